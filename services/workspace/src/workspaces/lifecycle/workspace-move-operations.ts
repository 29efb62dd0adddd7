/** Moves workspaces between the projects of an organization. */
import { KeelsonError } from '@keelson/errors';
import { refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Transaction } from '@keelson/storage';
import { requireProject, requireWorkspace } from '../access/access-operations.ts';
import { changePoolUse } from '../access/pool-use-operations.ts';
import type { PoolUser } from '../model/domain/agent-pool.ts';
import type { Workspace } from '../model/domain/workspace.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import { requireConnection } from '../oauth/connection-operations.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { announceBindings } from '../tags/binding-override-operations.ts';

export const toPoolUser = ({ id, organizationId, projectId }: Workspace): PoolUser => ({
  kind: 'workspace',
  id,
  organizationId,
  projectId,
});

/** The target project of a move, which requires the permission to move on both projects. */
export const moveTo = async (
  tx: Transaction,
  principal: Principal,
  workspace: Workspace,
  projectId: string | undefined,
): Promise<string> => {
  if (!projectId || projectId === workspace.projectId) return workspace.projectId;
  await requireProject(tx, principal, workspace.projectId, 'canMoveWorkspace');
  const { project } = await requireProject(tx, principal, projectId, 'canMoveWorkspace');
  if (project.organizationId !== workspace.organizationId) {
    refuseInvalid([{ pointer: '/data/relationships/project/data/id', text: 'Project not found' }]);
  }
  return project.id;
};

/**
 * The workspace in its new project, otherwise unchanged.
 * @param pointer to the part of the request at fault when the workspace may not be in that project
 */
export const withMove = async (
  tx: Transaction,
  principal: Principal,
  workspace: Workspace,
  projectId: string,
  { nowMs, pointer }: { readonly nowMs: number; readonly pointer: string },
): Promise<Workspace> => {
  const next: Workspace = {
    ...workspace,
    projectId: await moveTo(tx, principal, workspace, projectId),
    updatedAtMs: nowMs,
  };
  await requireConnection(tx, next);
  await announceBindings(tx, next, pointer);
  const poolId = workspace.ownExecution?.agentPoolId;
  await changePoolUse(tx, toPoolUser(next), poolId, poolId);
  return next;
};

const orForbidden = async <T>(lookup: Promise<T>): Promise<T> => {
  try {
    return await lookup;
  } catch (error) {
    if (KeelsonError.from(error).code !== 'workspace.not_found') throw error;
    throw new KeelsonError(
      'workspace.forbidden',
      { text: 'you are not authorized to move these workspaces, or not all of them exist' },
      { cause: error },
    );
  }
};

/**
 * Moves all workspaces or none.
 * @throws KeelsonError `workspace.forbidden` also when one of them does not exist
 */
export const moveWorkspaces = (
  { store, clock }: WorkspacesContext,
  principal: Principal,
  projectId: string,
  workspaceIds: readonly string[],
): Promise<void> =>
  store.transact(async (tx) => {
    await requireProject(tx, principal, projectId);
    for (const workspaceId of workspaceIds) {
      const { workspace } = await orForbidden(requireWorkspace(tx, principal, { workspaceId }));
      // The workspace is already in the project.
      if (workspace.projectId === projectId) continue;
      const at = { nowMs: clock.nowMs(), pointer: '/data' };
      const next = await orForbidden(withMove(tx, principal, workspace, projectId, at));
      await workspaceRecords.write(tx, workspaceId, next);
    }
  });
