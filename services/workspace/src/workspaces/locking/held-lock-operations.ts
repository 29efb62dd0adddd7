/** The workspaces that a caller has locked, in all organizations. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, unlessDamaged } from '@keelson/storage';
import { inPortions } from '../../base/in-portions.ts';
import { requireWorkspace, type WorkspaceAccessResult } from '../access/access-operations.ts';
import type { WorkspaceTables } from '../listing/workspace-projections.ts';
import { isHeldBy, type Lock } from '../model/domain/lock.ts';
import { findWorkspaceLocking } from '../model/workspace-lock-records.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';

/** Nobody works in more workspaces at once. */
const MAX_LOCKS = 100;

export interface HeldLock {
  readonly access: WorkspaceAccessResult;
  readonly lock: Lock;
}

/** Undefined if the caller may not see it, or if it cannot be read. */
const findVisible = async (
  reads: Reads,
  principal: Principal,
  workspaceId: string,
): Promise<WorkspaceAccessResult | undefined> => {
  try {
    return await unlessDamaged(requireWorkspace(reads, principal, { workspaceId }));
  } catch (error) {
    if (error instanceof KeelsonError && error.code === 'workspace.not_found') return undefined;
    throw error;
  }
};

/** Undefined for a workspace that the caller may not see any more, and for one that was unlocked meanwhile. */
const findHeld = async (
  { store }: WorkspacesContext,
  principal: Principal,
  workspaceId: string,
): Promise<HeldLock | undefined> => {
  const access = await findVisible(store, principal, workspaceId);
  if (access === undefined) return undefined;
  const { lock } = await findWorkspaceLocking(store, access.workspace);
  const { kind, id } = principal;
  const isOwn =
    (kind === 'user' || kind === 'team') && lock !== null && isHeldBy(lock, { kind, id });
  return isOwn ? { access, lock } : undefined;
};

/** The locks of a user or a team, the oldest first; others hold none that they could give back. */
export const listHeldLocks = async (
  context: WorkspacesContext,
  principal: Principal,
): Promise<readonly HeldLock[]> => {
  const rows = await context.store.select<WorkspaceTables, { readonly id: string }>((tables) =>
    tables
      .selectFrom('workspace')
      .select('id')
      .where('locked_by', '=', principal.id)
      .limit(MAX_LOCKS),
  );
  const held = await inPortions(rows, ({ id }) => findHeld(context, principal, id));
  return held
    .filter((one) => one !== undefined)
    .toSorted((one, other) => one.lock.lockedAtMs - other.lock.lockedAtMs);
};
