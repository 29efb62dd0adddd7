/** What becomes of the bytes of states that are no longer current: withheld first, then deleted. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction, TransactOptions } from '@keelson/storage';
import { loadRuleInForce } from '../retention/retention-operations.ts';
import type { ServiceContext } from '../service-context.ts';
import { workspaceRecords } from '../workspaces/workspace-records.ts';
import type { StateStatus, StateVersion } from './domain/state-version.ts';
import { releaseContent } from './state-content-operations.ts';
import { findStateIdsOf, findStatesBefore, type StatePlace } from './state-listing.ts';
import { requireStateVersion } from './state-version-operations.ts';
import { removedWorkspaces, stateSummaries, stateVersionRecords } from './state-version-records.ts';

export type BackingDataAction = 'soft_delete' | 'restore' | 'permanently_delete';

const TRANSITIONS: Readonly<Record<BackingDataAction, { from: StateStatus; to: StateStatus }>> = {
  soft_delete: { from: 'finalized', to: 'backing_data_soft_deleted' },
  restore: { from: 'backing_data_soft_deleted', to: 'finalized' },
  permanently_delete: {
    from: 'backing_data_soft_deleted',
    to: 'backing_data_permanently_deleted',
  },
};

const applyAction = async (
  tx: Transaction,
  version: StateVersion,
  action: BackingDataAction,
): Promise<void> => {
  const status = TRANSITIONS[action].to;
  if (action !== 'permanently_delete') {
    stateVersionRecords.write(tx, [version.id], { ...version, status });
    return;
  }
  await releaseContent(tx, version.state);
  await releaseContent(tx, version.jsonState);
  stateSummaries.delete(tx, version.id);
  const withoutData = { ...version, status, state: null, jsonState: null, outputCount: 0 };
  stateVersionRecords.write(tx, [version.id], withoutData);
};

/** @throws KeelsonError `request.invalid` when the version is current or in another status */
export const changeBackingData = (
  { store }: ServiceContext,
  principal: Principal,
  id: string,
  action: BackingDataAction,
): Promise<void> =>
  store.transact(async (tx) => {
    const { version, workspace } = await requireStateVersion(tx, principal, id, 'canUpdate');
    const { currentId, newestId } = workspace.state;
    const isInForce = id === currentId || id === newestId;
    if (isInForce || version.status !== TRANSITIONS[action].from) {
      throw new KeelsonError('request.invalid', { text: 'transition not allowed' });
    }
    await applyAction(tx, version, action);
  });

const DAY_MS = 24 * 60 * 60 * 1000;
/** Withheld states can be given back for as long after the policy's days. */
const GRACE_MS = 7 * DAY_MS;

/** What the policy in force for its workspace says of a version. */
const decideRetention = async (
  reads: Reads,
  version: StateVersion,
  nowMs: number,
): Promise<BackingDataAction | undefined> => {
  const workspace = await workspaceRecords.find(reads, version.workspaceId);
  if (workspace === undefined) return undefined;
  const { currentId, newestId } = workspace.state;
  if (version.id === currentId || version.id === newestId) return undefined;
  const rule = await loadRuleInForce(reads, workspace);
  if (rule?.kind !== 'delete-older') return undefined;
  const ageMs = nowMs - version.createdAtMs - rule.days * DAY_MS;
  if (version.status === 'finalized') return ageMs >= 0 ? 'soft_delete' : undefined;
  return version.status === 'backing_data_soft_deleted' && ageMs >= GRACE_MS
    ? 'permanently_delete'
    : undefined;
};

const findDue = async (reads: Reads, id: string, nowMs: number) => {
  const version = await stateVersionRecords.find(reads, id);
  const action = version && (await decideRetention(reads, version, nowMs));
  return version === undefined || action === undefined ? undefined : { version, action };
};

const PAGE_SIZE = 100;

/** One pass over all states that a policy may have reached (the shortest one is of a day). */
export const applyRetention = async (
  { store, clock }: ServiceContext,
  options: TransactOptions,
): Promise<void> => {
  const nowMs = clock.nowMs();
  for (const status of ['finalized', 'backing_data_soft_deleted'] as const) {
    let page: readonly StatePlace[];
    let place: StatePlace | undefined;
    do {
      page = await findStatesBefore(store, status, nowMs - DAY_MS + 1, place, PAGE_SIZE);
      place = page.at(-1);
      for (const { id } of page) {
        // Most are kept: only what looks due is decided in a transaction.
        if ((await findDue(store, id, nowMs)) === undefined) continue;
        await store.transact(async (tx) => {
          const due = await findDue(tx, id, nowMs);
          if (due !== undefined) await applyAction(tx, due.version, due.action);
        }, options);
      }
    } while (page.length === PAGE_SIZE);
  }
};

/** Removes states of workspaces that are gone. @returns true when there may be more */
export const removeStatesOfRemoved = async (
  { store }: ServiceContext,
  options: TransactOptions,
): Promise<boolean> => {
  const [workspaceId] = await removedWorkspaces.keys(store, [], { limit: 1 });
  if (workspaceId === undefined) return false;
  const ids = await findStateIdsOf(store, workspaceId, PAGE_SIZE);
  await store.transact(async (tx) => {
    for (const id of ids) {
      const version = await stateVersionRecords.find(tx, id);
      if (version === undefined) continue;
      await releaseContent(tx, version.state);
      await releaseContent(tx, version.jsonState);
      stateSummaries.delete(tx, id);
      stateVersionRecords.delete(tx, id);
    }
    if (ids.length < PAGE_SIZE) removedWorkspaces.delete(tx, workspaceId);
  }, options);
  return true;
};
