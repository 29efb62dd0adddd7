export const WORKSPACE_TABS = ['overview', 'runs', 'states', 'variables', 'settings'] as const;

export type WorkspaceTab = (typeof WORKSPACE_TABS)[number];

/** The tab of the workspace page that the URL names. */
export const parseWorkspaceTab = (
  search: Readonly<Record<string, unknown>>,
): { readonly tab?: WorkspaceTab } => {
  const tab = WORKSPACE_TABS.find((one) => one === search['tab']);
  return tab === undefined || tab === 'overview' ? {} : { tab };
};
