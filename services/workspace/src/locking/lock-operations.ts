import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import {
  loadWorkspaceAccess,
  notFound,
  type OrganizationAccessResult,
  requireWorkspace,
  type WorkspaceAccessResult,
} from '../access/access-operations.ts';
import { type ForcedUnlock, isExecuting, type Run } from '../runs/domain/run.ts';
import { runRecords } from '../runs/run-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { withoutPendingState, withPromotedState } from '../states/state-version-operations.ts';
import { findVisibleTeam } from '../teams/team-access.ts';
import { changeWorkspace } from '../workspaces/workspace-operations.ts';
import { workspaceRecords } from '../workspaces/workspace-records.ts';
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

/** Who forces an unlock: people, teams, and what holds an organization's token. */
const toForcer = ({ kind, id }: Principal): ForcedUnlock['by'] => {
  if (kind !== 'user' && kind !== 'team' && kind !== 'organization') throw notFound('workspace');
  return { kind, id };
};

/** The run that held the lock, which tells who took it from it; undefined when no run did. */
const noteForcedUnlock = async (
  tx: Transaction,
  { holder }: Lock,
  by: ForcedUnlock['by'],
  atMs: number,
): Promise<Run | undefined> => {
  const run = holder.kind === 'run' ? await runRecords.find(tx, holder.id) : undefined;
  if (run === undefined) return undefined;
  const forced = { ...run, forcedUnlocks: [...(run.forcedUnlocks ?? []), { atMs, by }] };
  runRecords.write(tx, [run.id], forced);
  return forced;
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

/** A workspace unlocked by force, and the run that held the lock, if one did. */
export interface ForcedWorkspace extends WorkspaceAccessResult {
  readonly run: Run | undefined;
}

/**
 * Unlocks a workspace whoever holds the lock. A state that its holder announced is given up, unless the
 * holder is a run with an agent at work on it: that one may still store its state, and no other run starts
 * before its phase ends.
 * @throws KeelsonError `workspace.already_unlocked`
 */
export const forceUnlockWorkspace = (
  { store, clock }: ServiceContext,
  principal: Principal,
  workspaceId: string,
): Promise<ForcedWorkspace> =>
  store.transact(async (tx) => {
    const access = await requireWorkspace(tx, principal, { workspaceId }, 'canForceUnlock');
    const { workspace } = access;
    if (workspace.lock === null) throw new KeelsonError('workspace.already_unlocked');
    const run = await noteForcedUnlock(tx, workspace.lock, toForcer(principal), clock.nowMs());
    const unlocked = { ...workspace, lock: null };
    const next =
      run !== undefined && isExecuting(run.status)
        ? { ...unlocked, unlockedRunId: run.id }
        : await withPromotedState(tx, await withoutPendingState(tx, unlocked));
    workspaceRecords.write(tx, [workspaceId], next);
    return { ...(await loadWorkspaceAccess(tx, access, next)), run };
  });
