/** Which events in a repository concern a workspace. */
import { compileExpression } from '../../../workspaces/model/domain/linear-expression.ts';
import type { RepositoryEvent } from '../../../workspaces/model/domain/repository-event.ts';
import type { Workspace, WorkspaceSettings } from '../../../workspaces/model/domain/workspace.ts';
import type { WorkspaceRuns } from '../../../workspaces/model/domain/workspace-runs.ts';
import { isBelow, matchesPatterns } from './path-patterns.ts';

/** The branch that a workspace follows. */
export const followedBranch = (
  { vcsRepo }: Pick<WorkspaceSettings, 'vcsRepo'>,
  defaultBranch: string,
): string => vcsRepo?.branch || defaultBranch;

/**
 * Why an event does not concern a workspace, by its settings alone; undefined when it may, which then depends
 * on the changed files.
 */
export const findDisregard = (
  { id, settings }: Pick<Workspace, 'id' | 'settings'>,
  event: RepositoryEvent,
  defaultBranch: string,
): string | undefined => {
  const tagsRegex = settings.vcsRepo?.tagsRegex;
  switch (event.kind) {
    case 'connection':
      return event.workspaceId === id ? undefined : 'another workspace was connected';
    case 'tag':
      if (!tagsRegex) return 'the workspace follows a branch, not tags';
      return compileExpression(tagsRegex)?.matches(event.tag)
        ? undefined
        : 'the tag does not match tags-regex';
    case 'push':
      if (tagsRegex) return 'the workspace follows tags, not a branch';
      return event.branch === followedBranch(settings, defaultBranch)
        ? undefined
        : 'the workspace follows another branch';
    case 'pull-request':
      if (!settings.speculativeEnabled) return 'speculative-enabled is false';
      return event.targetBranch === followedBranch(settings, defaultBranch)
        ? undefined
        : 'the pull request is for another branch than the one that the workspace follows';
  }
};

/** Whether the changed files decide if an event starts a run. */
export const dependsOnFiles = (
  { fileTriggersEnabled, triggerPatterns, triggerPrefixes, workingDirectory }: WorkspaceSettings,
  event: RepositoryEvent,
): boolean =>
  (event.kind === 'push' || event.kind === 'pull-request') &&
  fileTriggersEnabled &&
  (triggerPatterns.length > 0 || triggerPrefixes.length > 0 || Boolean(workingDirectory));

/**
 * Whether changed files concern a workspace: they match its patterns, or are in its working directory or one
 * of its prefixes.
 * @param changed paths from the repository's root; undefined when they are not known
 */
export const concernsFiles = (
  { triggerPatterns, triggerPrefixes, workingDirectory }: WorkspaceSettings,
  changed: readonly string[] | undefined,
): boolean => {
  if (changed === undefined) return true;
  return triggerPatterns.length > 0
    ? matchesPatterns(changed, triggerPatterns)
    : isBelow(changed, [...triggerPrefixes, ...(workingDirectory ? [workingDirectory] : [])]);
};

/** Without `queue-all-runs`, pushes start runs only after a person has started the first one. */
export const queuesRuns = (
  { queueAllRuns }: Pick<WorkspaceSettings, 'queueAllRuns'>,
  { newestNumber }: Pick<WorkspaceRuns, 'newestNumber'>,
): boolean => queueAllRuns || newestNumber > 0;
