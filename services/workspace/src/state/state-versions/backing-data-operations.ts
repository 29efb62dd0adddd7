/** Withholds and deletes the bytes of states that are no longer current. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import {
  type Reads,
  readableOnly,
  type Store,
  type Transaction,
  type TransactOptions,
} from '@keelson/storage';
import type { Kysely } from 'kysely';
import { limitsOf } from '../../base/retention/domain/retention-policy.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import { findWorkspaceState } from '../../workspaces/model/workspace-state-records.ts';
import { releaseContent } from '../contents/state-content-operations.ts';
import type { StateStatus, StateVersion } from '../model/domain/state-version.ts';
import { applyToAged, type DueVersion } from '../retention/aged-versions.ts';
import {
  type BackingDataAction,
  DELETED,
  decideRetention,
  nextStatus,
  WITHHELD,
} from '../retention/domain/backing-data.ts';
import { loadRuleInForce } from '../retention/retention-operations.ts';
import { findStateIdsOf } from './state-listing.ts';
import { requireStateVersion } from './state-version-operations.ts';
import type { StateVersionTables } from './state-version-projections.ts';
import { deleteSummary, removedWorkspaces, stateVersionRecords } from './state-version-records.ts';

const KEPT = 'finalized' satisfies StateStatus;

const applyAction = async (
  tx: Transaction,
  version: StateVersion,
  action: BackingDataAction,
  nowMs: number,
): Promise<boolean> => {
  const status = nextStatus(KEPT, version.status, action);
  if (status === undefined) return false;
  if (status !== DELETED) {
    const withheldAtMs = status === WITHHELD ? nowMs : version.withheldAtMs;
    stateVersionRecords.write(tx, [version.id], {
      ...version,
      status,
      ...(withheldAtMs !== undefined && { withheldAtMs }),
    });
    return true;
  }
  await releaseContent(tx, version.state);
  await releaseContent(tx, version.jsonState);
  deleteSummary(tx, version.id);
  const withoutData = { ...version, status, state: null, jsonState: null, outputCount: 0 };
  stateVersionRecords.write(tx, [version.id], withoutData);
  return true;
};

/** @throws KeelsonError `request.invalid` when the version is current or its status does not allow it */
export const changeBackingData = (
  { store, clock }: ServiceContext,
  principal: Principal,
  id: string,
  action: BackingDataAction,
): Promise<void> =>
  store.transact(async (tx) => {
    const { version, workspace } = await requireStateVersion(tx, principal, id, 'canUpdate');
    const { currentId, newestId } = await findWorkspaceState(tx, workspace);
    const isInForce = id === currentId || id === newestId;
    const isAllowed = !isInForce && (await applyAction(tx, version, action, clock.nowMs()));
    if (!isAllowed) throw new KeelsonError('request.invalid', { text: 'transition not allowed' });
  });

/** The action that the effective policy of its workspace requires for a version. */
const decideAction = async (
  reads: Reads,
  version: StateVersion,
  nowMs: number,
): Promise<DueVersion<StateVersion> | undefined> => {
  const workspace = await workspaceRecords.find(reads, version.workspaceId);
  if (workspace === undefined) return undefined;
  const { currentId, newestId } = await findWorkspaceState(reads, workspace);
  if (version.id === currentId || version.id === newestId) return undefined;
  const limits = limitsOf(await loadRuleInForce(reads, workspace), 'stateVersions');
  if (limits === undefined) return undefined;
  const action = decideRetention(KEPT, { withheldAtMs: undefined, ...version }, limits, nowMs);
  return action && { version, action, keepLatest: limits.keepLatest };
};

const findDue = async (reads: Reads, id: string, nowMs: number) => {
  const version = await stateVersionRecords.find(reads, id);
  return version && decideAction(reads, version, nowMs);
};

const countNewer = async (
  store: Pick<Store, 'select'>,
  { workspaceId, number }: StateVersion,
  limit: number,
): Promise<number> => {
  const newer = await store.select((tables: Kysely<StateVersionTables>) =>
    tables
      .selectFrom('state_version')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .where('number', '>', number)
      .where('status', '=', KEPT)
      .limit(limit),
  );
  return newer.length;
};

/** One pass over all states that may be due under a policy. */
export const applyRetention = (context: ServiceContext, options: TransactOptions): Promise<void> =>
  applyToAged(
    context,
    { table: 'state_version', kept: KEPT, findDue, countNewer, applyAction },
    options,
  );

const REMOVED_AT_ONCE = 100;

/**
 * Removes the states of deleted workspaces.
 * @returns true when there may be more
 */
export const removeStatesOfRemoved = async (
  { store }: ServiceContext,
  options: TransactOptions,
): Promise<boolean> => {
  const [workspaceId] = await removedWorkspaces.keys(store, [], { limit: 1 });
  if (workspaceId === undefined) return false;
  const ids = await findStateIdsOf(store, workspaceId, REMOVED_AT_ONCE);
  await store.transact(async (tx) => {
    for (const id of ids) {
      const version = await stateVersionRecords.find(readableOnly(tx), id);
      await releaseContent(tx, version?.state ?? null);
      await releaseContent(tx, version?.jsonState ?? null);
      deleteSummary(tx, id);
      stateVersionRecords.delete(tx, id);
    }
    if (ids.length < REMOVED_AT_ONCE) removedWorkspaces.delete(tx, workspaceId);
  }, options);
  return true;
};
