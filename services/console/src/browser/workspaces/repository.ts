/** The repository of a workspace, and the settings that decide which commits start runs. */
import type { Fields } from '../components/action-button.tsx';
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

/** The attributes of a request that connects a workspace, or changes its connection. */
export const repositoryBody = ({ text, isChecked }: Fields): object => {
  const triggers = text('triggers');
  const lines = linesOf(text('trigger-text'));
  return {
    data: {
      type: 'workspaces',
      attributes: {
        'file-triggers-enabled': triggers === 'prefixes' || triggers === 'patterns',
        'trigger-patterns': triggers === 'patterns' ? lines : [],
        'trigger-prefixes': triggers === 'prefixes' ? lines : [],
        'vcs-repo': {
          identifier: text('identifier'),
          'oauth-token-id': text('token'),
          branch: text('branch'),
          'ingress-submodules': isChecked('submodules'),
          'tags-regex': triggers === 'tags' ? (lines[0] ?? '') : '',
        },
      },
    },
  };
};
