import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { readableOnly, type Transaction, unlessDamaged } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import {
  withoutPendingState,
  withPromotedState,
} from '../../state/state-versions/state-version-operations.ts';
import {
  loadWorkspaceAccess,
  requireWorkspace,
  type WorkspaceAccessResult,
} from '../../workspaces/access/access-operations.ts';
import type { LockHolder } from '../../workspaces/model/domain/lock.ts';
import {
  findWorkspaceLocking,
  storeWorkspaceLocking,
} from '../../workspaces/model/workspace-lock-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import { type ForcedUnlock, isExecuting, needsLock, type Run } from '../model/domain/run.ts';
import { runRecords } from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';

/** The principal that forces an unlock: a user, a team, or an organization through its token. */
const toForcer = ({ kind, id }: Principal): ForcedUnlock['by'] => {
  if (kind !== 'user' && kind !== 'team' && kind !== 'organization') throw notFound('workspace');
  return { kind, id };
};

/** Records the forced unlock on the run that held the lock; undefined when no run that can be read held it. */
const recordForcedUnlock = async (
  tx: Transaction,
  holder: LockHolder,
  by: ForcedUnlock['by'],
  atMs: number,
): Promise<Run | undefined> => {
  const run =
    holder.kind === 'run' ? await runRecords.find(readableOnly(tx), holder.id) : undefined;
  if (run === undefined) return undefined;
  const forced = { ...run, forcedUnlocks: [...(run.forcedUnlocks ?? []), { atMs, by }] };
  await runRecords.write(tx, [run.id], forced);
  return forced;
};

/** The run that an agent executes with the lock, which holds it if that cannot be read; undefined if there is none. */
const findWorkingRun = async (
  tx: Transaction,
  workspaceId: string,
): Promise<LockHolder | undefined> => {
  for (const id of await runRecords.by.open.keys(tx, workspaceId)) {
    const run = await runRecords.find(readableOnly(tx), id);
    if (run !== undefined && needsLock(run) && isExecuting(run.status)) return { kind: 'run', id };
  }
  return undefined;
};

/** A workspace unlocked by force, and the run that held the lock, if it was a run. */
export interface ForcedWorkspace extends WorkspaceAccessResult {
  readonly run: Run | undefined;
}

/**
 * Unlocks a workspace whoever holds the lock. The pending state of the holder is discarded, unless the holder
 * is a run with an active agent: this run may still store its state, and no other run starts before its phase
 * ends. A lock that cannot be read is removed as well.
 * @throws KeelsonError `workspace.already_unlocked`
 */
export const forceUnlockWorkspace = (
  { store, clock }: RunsContext,
  principal: Principal,
  workspaceId: string,
): Promise<ForcedWorkspace> =>
  store.transact(async (tx) => {
    const access = await requireWorkspace(tx, principal, { workspaceId }, 'canForceUnlock');
    const { workspace } = access;
    const locking = await unlessDamaged(findWorkspaceLocking(tx, workspace));
    if (locking?.lock === null) throw new KeelsonError('workspace.already_unlocked');
    const by = toForcer(principal);
    const holder = locking?.lock.holder ?? (await findWorkingRun(tx, workspaceId));
    const run = holder && (await recordForcedUnlock(tx, holder, by, clock.nowMs()));
    const isWorking = run !== undefined && isExecuting(run.status);
    const unlocked = storeWorkspaceLocking(tx, workspace, {
      lock: null,
      unlockedRunId: isWorking ? run.id : (locking?.unlockedRunId ?? null),
    });
    const next = isWorking
      ? unlocked
      : await withPromotedState(tx, await withoutPendingState(tx, unlocked));
    if (next !== workspace) await workspaceRecords.write(tx, workspaceId, next);
    return { ...(await loadWorkspaceAccess(tx, access, next)), run };
  });
