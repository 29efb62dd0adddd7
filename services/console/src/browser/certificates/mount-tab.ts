export const MOUNT_TABS = [
  'certificates',
  'issuers',
  'keys',
  'roles',
  'est',
  'policy',
  'settings',
] as const;

export type MountTab = (typeof MOUNT_TABS)[number];

/** The tab of the authority page that the URL names. */
export const parseMountTab = (
  search: Readonly<Record<string, unknown>>,
): { readonly tab?: MountTab } => {
  const tab = MOUNT_TABS.find((one) => one === search['tab']);
  return tab === undefined || tab === 'certificates' ? {} : { tab };
};
