/** Decides which commit an event in a repository needs, and which workspaces get it. */
import type { CommitRequest, FoundCommit } from '@keelson/repositories';
import type { RepositoryEvent } from '../../workspaces/model/domain/repository-event.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import type { DeliveryEffect } from '../hooks/delivery-records.ts';
import {
  concernsFiles,
  dependsOnFiles,
  findDisregard,
  followedBranch,
} from '../triggers/domain/triggers.ts';

/** The reference whose commit an event is about; undefined means the branch that a new workspace follows. */
const refOf = (event: RepositoryEvent): string | undefined => {
  switch (event.kind) {
    case 'connection':
      return undefined;
    case 'push':
      return `refs/heads/${event.branch}`;
    case 'tag':
      return `refs/tags/${event.tag}`;
    case 'pull-request':
      return `refs/heads/${event.sourceBranch}`;
  }
};

/** The branch that workspaces follow for which an event is meant; empty for events that name none. */
const targetOf = (event: RepositoryEvent): string => {
  switch (event.kind) {
    case 'push':
      return event.branch;
    case 'pull-request':
      return event.targetBranch;
    case 'tag':
    case 'connection':
      return '';
  }
};

/**
 * The commit that an event needs. Workspaces that follow the default branch count as concerned, as its name is
 * known only after asking the provider.
 * @returns undefined if the event concerns none of the workspaces
 */
export const toCommitRequest = (
  workspaces: readonly Workspace[],
  event: RepositoryEvent,
): CommitRequest | undefined => {
  const target = targetOf(event);
  const candidates = workspaces.filter(
    (workspace) => findDisregard(workspace, event, target) === undefined,
  );
  const [first] = candidates;
  if (first === undefined) return undefined;
  const isNamed = candidates.some((workspace) => findDisregard(workspace, event, '') === undefined);
  const branch = followedBranch(first.settings, '');
  const ref = refOf(event) ?? (branch === '' ? null : `refs/heads/${branch}`);
  const comparesFiles = candidates.some(({ settings }) => dependsOnFiles(settings, event));
  return {
    ref,
    onlyIfDefaultBranch: isNamed ? null : target,
    baseSha: comparesFiles && 'baseSha' in event ? event.baseSha : null,
  };
};

export interface Choice {
  /** Workspaces that get the commit. */
  readonly accepted: readonly Workspace[];
  /** Why the others do not. */
  readonly effects: readonly DeliveryEffect[];
}

/**
 * Decides which workspaces get a commit.
 * @param found undefined if nothing was fetched, because `toCommitRequest` has found none that is concerned
 */
export const chooseWorkspaces = (
  workspaces: readonly Workspace[],
  event: RepositoryEvent,
  found: Pick<FoundCommit, 'defaultBranch' | 'changedFiles'> | undefined,
): Choice => {
  const { defaultBranch, changedFiles } = found ?? {
    defaultBranch: targetOf(event),
    changedFiles: null,
  };
  const accepted: Workspace[] = [];
  const effects: DeliveryEffect[] = [];
  for (const workspace of workspaces) {
    const { id, settings } = workspace;
    const isUntouched =
      dependsOnFiles(settings, event) && !concernsFiles(settings, changedFiles ?? undefined);
    const text =
      findDisregard(workspace, event, defaultBranch) ??
      (isUntouched ? 'no monitored file has changed' : undefined);
    if (text === undefined) accepted.push(workspace);
    else effects.push({ workspaceId: id, text });
  }
  return { accepted, effects };
};
