import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import { type OrganizationAccessResult } from '../../identity/access/organization-access-operations.ts';
import { findVisibleTeam } from '../../identity/access/team-access.ts';
import { userRecords } from '../../identity/model/user-records.ts';
import { requireWorkspace, type WorkspaceAccessResult } from '../access/access-operations.ts';
import { changeWorkspace } from '../access/workspace-change-operations.ts';
import { decideLock, decideUnlock, type Lock, type LockHolder } from '../model/domain/lock.ts';
import type { Workspace } from '../model/domain/workspace.ts';
import { findWorkspaceLocking, storeWorkspaceLocking } from '../model/workspace-lock-records.ts';
import { findWorkspaceState } from '../model/workspace-state-records.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { KIND_NAMES, toHolder } from './lock-holder.ts';

/**
 * The name of the lock's holder, which the lock itself does not hold; its id for an erased user, and for a team
 * that the caller may not see.
 */
const nameOf = async (
  reads: Reads,
  owner: OrganizationAccessResult,
  { kind, id }: LockHolder,
): Promise<string> => {
  const name =
    kind === 'user'
      ? (await userRecords.find(reads, id))?.username
      : (await findVisibleTeam(reads, owner, id))?.name;
  return name ?? id;
};

const heldBy = async (
  reads: Reads,
  owner: OrganizationAccessResult,
  { holder, reason }: Lock,
): Promise<KeelsonError> => {
  if (holder.kind === 'run') return new KeelsonError('workspace.locked_by_run', { id: holder.id });
  const name = await nameOf(reads, owner, holder);
  return new KeelsonError('workspace.already_locked', {
    holder: ` It is held by ${KIND_NAMES[holder.kind]} ${name}${reason === '' ? '' : `: ${reason}`}.`,
  });
};

/** @throws KeelsonError `workspace.already_locked`, `workspace.locked_by_run` */
export const lockWorkspace = (
  context: WorkspacesContext,
  principal: Principal,
  workspaceId: string,
  reason: string,
): Promise<WorkspaceAccessResult> =>
  changeWorkspace(
    context,
    (tx) => requireWorkspace(tx, principal, { workspaceId }, 'canLock'),
    async ({ workspace, ...owner }, tx) => {
      const wanted = { holder: toHolder(principal), reason, lockedAtMs: context.clock.nowMs() };
      const locking = await findWorkspaceLocking(tx, workspace);
      const decision = decideLock(locking.lock, wanted);
      if (decision.kind === 'held') throw await heldBy(tx, owner, decision.by);
      return storeWorkspaceLocking(tx, workspace, { ...locking, lock: decision.lock });
    },
  );

const withUnlockSteps = async (
  { workspaceSteps }: WorkspacesContext,
  tx: Transaction,
  unlocked: Workspace,
): Promise<Workspace> => {
  let workspace = unlocked;
  for (const step of workspaceSteps) {
    workspace = (await step.onUnlock?.(tx, workspace)) ?? workspace;
  }
  return workspace;
};

/**
 * Releases the lock; the newest state uploaded during an apply becomes current.
 * @throws KeelsonError `workspace.already_unlocked`, `workspace.locked_by_other`, `workspace.state_pending`
 * while the bytes of a created state version are missing
 */
export const unlockWorkspace = (
  context: WorkspacesContext,
  principal: Principal,
  workspaceId: string,
): Promise<WorkspaceAccessResult> =>
  changeWorkspace(
    context,
    (tx) => requireWorkspace(tx, principal, { workspaceId }, 'canUnlock'),
    async ({ workspace }, tx) => {
      const locking = await findWorkspaceLocking(tx, workspace);
      const decision = decideUnlock(locking.lock, toHolder(principal));
      switch (decision.kind) {
        case 'not_locked':
          throw new KeelsonError('workspace.already_unlocked');
        case 'held_by_other':
          throw new KeelsonError('workspace.locked_by_other', {
            kind: KIND_NAMES[decision.by.holder.kind],
            id: decision.by.holder.id,
          });
        case 'unlocked':
          if ((await findWorkspaceState(tx, workspace)).pendingId !== null)
            throw new KeelsonError('workspace.state_pending');
          return withUnlockSteps(
            context,
            tx,
            storeWorkspaceLocking(tx, workspace, { ...locking, lock: null }),
          );
      }
    },
  );
