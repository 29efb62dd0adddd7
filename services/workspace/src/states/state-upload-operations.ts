/** The bytes of an announced state: stored as they arrive, then checked and put in force at once. */
import { KeelsonError } from '@keelson/errors';
import type { Transaction } from '@keelson/storage';
import { notFound } from '../access/access-operations.ts';
import { runRecords } from '../runs/run-records.ts';
import type { ServiceContext } from '../service-context.ts';
import type { Workspace } from '../workspaces/domain/workspace.ts';
import { workspaceRecords } from '../workspaces/workspace-records.ts';
import { type StateVersion, withFinalized } from './domain/state-version.ts';
import { noteInstances } from './instance-operations.ts';
import { adoptContent, storeContent } from './state-content-operations.ts';
import { createStateSummaryReader } from './state-summary-reader.ts';
import { refuseSuccession, withoutPendingState } from './state-version-operations.ts';
import { stateSummaries, stateVersionRecords } from './state-version-records.ts';

const noLongerExpected = (): KeelsonError =>
  new KeelsonError('workspace.conflict', {
    text: 'The state version does not expect this upload (any more).',
  });

const requireVersion = async (
  tx: Pick<Transaction, 'read' | 'list' | 'scan'>,
  id: string,
): Promise<StateVersion> => {
  const version = await stateVersionRecords.find(tx, id);
  if (version === undefined) throw notFound('state version');
  return version;
};

/** The apply that wrote the state shows it. */
const noteInRun = async (tx: Transaction, version: StateVersion): Promise<void> => {
  const run = await runRecords.find(tx, version.runId ?? '');
  if (run?.workspaceId !== version.workspaceId) return;
  const stateVersionIds = [...run.stateVersionIds, version.id];
  runRecords.write(tx, [run.id], { ...run, stateVersionIds });
};

const requireSame = (what: string, announced: unknown, found: unknown): void => {
  if (announced !== found) throw new KeelsonError('workspace.state_mismatch', { what });
};

/** The newest state may have changed since the announcement, and the file may say another serial. */
const requireSuccession = async (
  tx: Transaction,
  { state }: Workspace,
  version: StateVersion,
): Promise<void> => {
  const newest =
    state.newestId === null ? undefined : await stateVersionRecords.find(tx, state.newestId);
  refuseSuccession(newest, version);
};

/**
 * Stores a version's state and finalizes it: from the commit on it is the workspace's. Its serial and
 * lineage are those of the file; the announcement counts only where the file has none.
 * @throws KeelsonError `workspace.conflict` when it is not pending, `workspace.state_mismatch` when MD5
 *   hash or lineage are not the announced ones, `workspace.state_malformed`, and `workspace.state_…`
 *   when the file may not follow the newest state
 */
export const uploadState = async (
  context: ServiceContext,
  id: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<StateVersion> => {
  const announced = await requireVersion(context.store, id);
  if (announced.status !== 'pending') throw noLongerExpected();
  const reader = createStateSummaryReader();
  const loose = await storeContent(context, pieces, (piece) => reader.write(piece));
  const summary = reader.end();
  requireSame('MD5 hash', announced.md5, loose.md5);
  if (announced.lineage !== null && summary.lineage !== null) {
    requireSame('lineage', announced.lineage, summary.lineage);
  }
  return context.store.transact(async (tx) => {
    const version = await requireVersion(tx, id);
    const workspace = await workspaceRecords.find(tx, version.workspaceId);
    if (workspace === undefined) throw notFound('workspace');
    if (version.status !== 'pending' || workspace.state.pendingId !== id) throw noLongerExpected();
    const finalized: StateVersion = {
      ...version,
      status: 'finalized',
      state: await adoptContent(context, tx, loose),
      serial: summary.serial ?? version.serial,
      lineage: summary.lineage ?? version.lineage,
      formatVersion: summary.formatVersion,
      runtimeVersion: summary.runtimeVersion,
      managedCount: summary.managedCount,
      outputCount: summary.outputs.length,
    };
    await requireSuccession(tx, workspace, finalized);
    const { outputs, resources } = summary;
    await noteInstances(tx, workspace.state.newestId, summary.instances, id);
    await noteInRun(tx, finalized);
    stateVersionRecords.write(tx, [id], finalized);
    stateSummaries.write(tx, [id], { outputs, resources });
    workspaceRecords.write(tx, [workspace.id], {
      ...workspace,
      state: withFinalized(workspace.state, finalized),
      latestChangeAtMs: version.isIntermediate ? workspace.latestChangeAtMs : version.createdAtMs,
    });
    return finalized;
  });
};

/** Stores the external form of a version's state, which may arrive before, with or after the state. */
export const uploadJsonState = async (
  context: ServiceContext,
  id: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<StateVersion> => {
  const isExpected = ({ status, jsonState }: StateVersion) =>
    jsonState === null && (status === 'pending' || status === 'finalized');
  if (!isExpected(await requireVersion(context.store, id))) throw noLongerExpected();
  const loose = await storeContent(context, pieces, () => undefined);
  return context.store.transact(async (tx) => {
    const version = await requireVersion(tx, id);
    if (!isExpected(version)) throw noLongerExpected();
    const jsonState = await adoptContent(context, tx, loose);
    stateVersionRecords.write(tx, [id], { ...version, jsonState });
    return { ...version, jsonState };
  });
};

async function* pieceOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Nothing is awaited any more that was announced as this version. */
const withdrawVersion = ({ store }: ServiceContext, id: string): Promise<void> =>
  store.transact(async (tx) => {
    const { workspaceId } = await requireVersion(tx, id);
    const workspace = await workspaceRecords.find(tx, workspaceId);
    if (workspace?.state.pendingId !== id) return;
    workspaceRecords.write(tx, [workspaceId], await withoutPendingState(tx, workspace));
  });

/**
 * Stores what came together with the announcement of a version. Nobody will try a refused state again:
 * an unlock does not wait for it.
 * @throws KeelsonError as `uploadState`
 */
export const uploadWithAnnouncement = async (
  context: ServiceContext,
  id: string,
  state: Uint8Array,
  jsonState: Uint8Array | undefined,
): Promise<StateVersion> => {
  try {
    const version = await uploadState(context, id, pieceOf(state));
    return jsonState === undefined
      ? version
      : await uploadJsonState(context, id, pieceOf(jsonState));
  } catch (error) {
    await withdrawVersion(context, id);
    throw error;
  }
};
