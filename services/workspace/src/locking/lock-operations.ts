import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import {
  type OrganizationAccessResult,
  requireWorkspace,
  type WorkspaceAccessResult,
} from '../access/access-operations.ts';
import type { ServiceContext } from '../service-context.ts';
import { withoutPendingState, withPromotedState } from '../states/state-version-operations.ts';
import { findVisibleTeam } from '../teams/team-access.ts';
import { changeWorkspace } from '../workspaces/workspace-operations.ts';
import { decideLock, decideUnlock, type Lock } from './domain/lock.ts';
import { KIND_NAMES, toHolder } from './lock-holder.ts';

/** Names who has the lock, a team to who sees it. */
const heldBy = async (
  reads: Reads,
  owner: OrganizationAccessResult,
  { holder, reason }: Lock,
): Promise<KeelsonError> => {
  if (holder.kind === 'run') return new KeelsonError('workspace.locked_by_run', { id: holder.id });
  const isNamed =
    holder.kind === 'user' || (await findVisibleTeam(reads, owner, holder.id)) !== undefined;
  const name = isNamed ? holder.name : holder.id;
  return new KeelsonError('workspace.already_locked', {
    holder: ` It is held by ${KIND_NAMES[holder.kind]} ${name}${reason === '' ? '' : `: ${reason}`}.`,
  });
};

/** @throws KeelsonError `workspace.already_locked`, `workspace.locked_by_run` */
export const lockWorkspace = (
  context: ServiceContext,
  principal: Principal,
  workspaceId: string,
  reason: string,
): Promise<WorkspaceAccessResult> =>
  changeWorkspace(
    context,
    (tx) => requireWorkspace(tx, principal, { workspaceId }, 'canLock'),
    async ({ workspace, ...owner }, tx) => {
      const wanted = { holder: toHolder(principal), reason, lockedAtMs: context.clock.nowMs() };
      const decision = decideLock(workspace.lock, wanted);
      if (decision.kind === 'held') throw await heldBy(tx, owner, decision.by);
      return { ...workspace, lock: decision.lock };
    },
  );

/**
 * Gives the lock back; what an apply last stored becomes current.
 * @throws KeelsonError `workspace.already_unlocked`, `workspace.locked_by_other`,
 *   `workspace.state_pending` while an announced state is still to come
 */
export const unlockWorkspace = (
  context: ServiceContext,
  principal: Principal,
  workspaceId: string,
): Promise<WorkspaceAccessResult> =>
  changeWorkspace(
    context,
    (tx) => requireWorkspace(tx, principal, { workspaceId }, 'canUnlock'),
    ({ workspace }, tx) => {
      const decision = decideUnlock(workspace.lock, toHolder(principal));
      switch (decision.kind) {
        case 'not_locked':
          throw new KeelsonError('workspace.already_unlocked');
        case 'held_by_other':
          throw new KeelsonError('workspace.locked_by_other', {
            kind: KIND_NAMES[decision.by.holder.kind],
            id: decision.by.holder.id,
          });
        case 'unlocked':
          if (workspace.state.pendingId !== null) throw new KeelsonError('workspace.state_pending');
          return withPromotedState(tx, { ...workspace, lock: null });
      }
    },
  );

/** Unlocks whoever holds it; a state that its holder announced is given up. @throws KeelsonError `workspace.already_unlocked` */
export const forceUnlockWorkspace = (
  context: ServiceContext,
  principal: Principal,
  workspaceId: string,
): Promise<WorkspaceAccessResult> =>
  changeWorkspace(
    context,
    (tx) => requireWorkspace(tx, principal, { workspaceId }, 'canForceUnlock'),
    async ({ workspace }, tx) => {
      if (workspace.lock === null) throw new KeelsonError('workspace.already_unlocked');
      const unlocked = await withoutPendingState(tx, { ...workspace, lock: null });
      return withPromotedState(tx, unlocked);
    },
  );
