/**
 * Access of the token of a run. The run may read the state of its own workspace, and write it while it
 * applies. It may read the state of another workspace that shares its state with the whole organization, with
 * its project, or with the run's workspace by name.
 */

import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import type { Workspace } from '../../model/domain/workspace.ts';
import { decideWorkspacePermissions, type WorkspacePermissions } from './workspace-permissions.ts';
import { NO_RIGHTS, type WorkspaceRights } from './workspace-rights.ts';

/** Access of the token of a run, which exists while an agent works on the run. */
export const runGrantShape = Type.Object({
  organizationId: Type.String(),
  workspaceId: Type.String(),
  /** Rights on the states of the run's own workspace: only an apply writes. */
  stateVersions: Type.Enum(['read', 'write']),
});
export type RunGrant = Shaped<typeof runGrantShape>;

export interface RunAccessFacts {
  readonly grant: RunGrant;
  /** Project of the run's workspace. */
  readonly projectId: string;
  /** The requested workspace. */
  readonly target: Pick<Workspace, 'id' | 'organizationId' | 'projectId' | 'settings'>;
  /**
   * The consumers that the target lists; used only if the target shares with neither its project nor the
   * organization.
   */
  readonly consumerIds: readonly string[];
}

const decideRights = ({
  grant,
  projectId,
  target,
  consumerIds,
}: RunAccessFacts): WorkspaceRights => {
  if (grant.organizationId !== target.organizationId) return NO_RIGHTS;
  if (grant.workspaceId === target.id) {
    return { ...NO_RIGHTS, runs: 'read', stateVersions: grant.stateVersions };
  }
  const { globalRemoteState, projectRemoteState } = target.settings;
  const isShared =
    globalRemoteState ||
    (projectRemoteState ? target.projectId === projectId : consumerIds.includes(grant.workspaceId));
  return isShared ? { ...NO_RIGHTS, runs: 'read', stateVersions: 'read' } : NO_RIGHTS;
};

export const decideRunPermissions = (facts: RunAccessFacts): WorkspacePermissions =>
  decideWorkspacePermissions({
    rights: decideRights(facts),
    isOwner: false,
    adminsMayForceDelete: false,
    allowDestroyPlan: false,
  });
