/** The repository of a workspace, and the settings that decide which commits start runs. */
import type { WorkspaceAttributes } from './workspace.ts';

/** Events that start runs. */
export const TRIGGERS = {
  always: 'every push to the branch',
  prefixes: 'pushes that change the working directory or the folders below',
  patterns: 'pushes that change files that match the patterns below',
  tags: 'tags that match the expression below',
} as const;

export type Triggers = keyof typeof TRIGGERS;

export const triggersOf = (workspace: WorkspaceAttributes): Triggers => {
  if (workspace['vcs-repo']?.['tags-regex']) return 'tags';
  if (!workspace['file-triggers-enabled']) return 'always';
  if (workspace['trigger-patterns'].length > 0) return 'patterns';
  const isInFolder = workspace['trigger-prefixes'].length > 0 || workspace['working-directory'];
  return isInFolder ? 'prefixes' : 'always';
};

/** The paths, patterns or expression of the triggers, as one line each. */
export const triggerText = (workspace: WorkspaceAttributes): string => {
  const texts: Readonly<Record<Triggers, string>> = {
    always: '',
    prefixes: workspace['trigger-prefixes'].join('\n'),
    patterns: workspace['trigger-patterns'].join('\n'),
    tags: workspace['vcs-repo']?.['tags-regex'] ?? '',
  };
  return texts[triggersOf(workspace)];
};

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The connection of a workspace as the form shows it. */
export const repositoryValues = (workspace: WorkspaceAttributes) => {
  const repository = workspace['vcs-repo'];
  return {
    token: repository?.['oauth-token-id'] ?? '',
    identifier: repository?.identifier ?? '',
    branch: repository?.branch ?? '',
    triggers: triggersOf(workspace) as string,
    'trigger-text': triggerText(workspace),
    submodules: repository?.['ingress-submodules'] ?? false,
  };
};

export type RepositoryValues = ReturnType<typeof repositoryValues>;

/** The attributes for what starts runs, which belong together. */
const triggerAttributes = (triggers: string, lines: readonly string[]) => ({
  'file-triggers-enabled': triggers === 'prefixes' || triggers === 'patterns',
  'trigger-patterns': triggers === 'patterns' ? lines : [],
  'trigger-prefixes': triggers === 'prefixes' ? lines : [],
});

/** The attributes that connect a workspace, or change its connection, which the API replaces as a whole. */
export const repositoryAttributes = (
  changed: Partial<RepositoryValues>,
  newest: WorkspaceAttributes,
): object => {
  const before = repositoryValues(newest);
  const { triggers, 'trigger-text': text, ...rest } = { ...before, ...changed };
  const { triggers: newTriggers, 'trigger-text': newText, ...others } = changed;
  const lines = linesOf(text);
  const areTriggersChanged = newTriggers !== undefined || newText !== undefined;
  // A tag is a matter of the connection. Storing the connection again would fetch the repository once more.
  const hasTags = [triggers, before.triggers].includes('tags');
  const isConnectionChanged = Object.keys(others).length > 0 || (areTriggersChanged && hasTags);
  return {
    ...(areTriggersChanged && triggerAttributes(triggers, lines)),
    ...(isConnectionChanged && {
      'vcs-repo': {
        identifier: rest.identifier,
        'oauth-token-id': rest.token,
        branch: rest.branch,
        'ingress-submodules': rest.submodules,
        ...(hasTags && { 'tags-regex': triggers === 'tags' ? (lines[0] ?? '') : '' }),
      },
    }),
  };
};
