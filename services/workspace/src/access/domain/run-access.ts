/**
 * What the token of a run opens. Its own workspace: the state, which it writes while it applies. Other
 * workspaces: their state, where they share it with all of the organization; or with their project; or, where
 * with neither, with the run's workspace by name.
 */
import type { Run } from '../../runs/domain/run.ts';
import { isExecuting } from '../../runs/domain/run.ts';
import type { Workspace } from '../../workspaces/domain/workspace.ts';
import { decideWorkspacePermissions, type WorkspacePermissions } from './workspace-permissions.ts';
import { NO_RIGHTS, type WorkspaceRights } from './workspace-rights.ts';

export interface RunAccessFacts {
  readonly run: Pick<Run, 'workspaceId' | 'organizationId' | 'status'>;
  /** Of the run's workspace. */
  readonly projectId: string;
  /** The workspace that is asked for. */
  readonly target: Pick<Workspace, 'id' | 'organizationId' | 'projectId' | 'settings'>;
  /** The consumers that the target names; they count while it shares with neither. */
  readonly consumerIds: readonly string[];
}

const decideRights = ({ run, projectId, target, consumerIds }: RunAccessFacts): WorkspaceRights => {
  if (!isExecuting(run.status) || run.organizationId !== target.organizationId) return NO_RIGHTS;
  if (run.workspaceId === target.id) {
    const stateVersions = run.status === 'applying' ? 'write' : 'read';
    return { ...NO_RIGHTS, runs: 'read', stateVersions };
  }
  const { globalRemoteState, projectRemoteState } = target.settings;
  const isShared =
    globalRemoteState ||
    (projectRemoteState ? target.projectId === projectId : consumerIds.includes(run.workspaceId));
  return isShared ? { ...NO_RIGHTS, runs: 'read', stateVersions: 'read' } : NO_RIGHTS;
};

export const decideRunPermissions = (facts: RunAccessFacts): WorkspacePermissions =>
  decideWorkspacePermissions({
    rights: decideRights(facts),
    isOwner: false,
    adminsMayForceDelete: false,
    allowDestroyPlan: false,
  });
