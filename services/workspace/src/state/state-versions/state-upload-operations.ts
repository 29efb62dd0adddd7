/** Uploads of states: stored as they arrive, then checked and made current in one transaction. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { requireAnnouncer } from '../../workspaces/access/upload-access-operations.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import {
  findWorkspaceState,
  writeWorkspaceState,
} from '../../workspaces/model/workspace-state-records.ts';
import {
  adoptContent,
  type LooseContent,
  storeContent,
} from '../contents/state-content-operations.ts';
import { type StateVersion, withFinalized } from '../model/domain/state-version.ts';
import type { StateContext } from '../seams/state-context.ts';
import { type StateAccess } from '../seams/state-contributions.ts';
import { recordInstances } from './instance-operations.ts';
import { createStateSummaryReader, type ReadSummary } from './state-summary-reader.ts';
import {
  announceInTransaction,
  requireSuccession,
  requireWritable,
  type StateInput,
} from './state-version-operations.ts';
import { stateSummaries, stateVersionRecords } from './state-version-records.ts';

const noLongerExpected = (): KeelsonError =>
  new KeelsonError('workspace.conflict', {
    text: 'The state version does not expect this upload.',
  });

const requireSame = (what: string, announced: unknown, found: unknown): void => {
  if (announced !== found) throw new KeelsonError('workspace.state_mismatch', { what });
};

/** The stored bytes of a state and the summary extracted from them; no version refers to them yet. */
interface ReceivedState {
  readonly content: LooseContent;
  readonly summary: ReadSummary;
}

/**
 * @throws KeelsonError `workspace.state_mismatch` when the MD5 hash differs from the announced one,
 * `workspace.state_malformed`
 */
const receiveState = async (
  context: StateContext,
  announced: Pick<StateVersion, 'md5'>,
  pieces: AsyncIterable<Uint8Array>,
): Promise<ReceivedState> => {
  const reader = createStateSummaryReader();
  const content = await storeContent(context, pieces, (piece) => reader.write(piece));
  const summary = reader.end();
  requireSame('MD5 hash', announced.md5, content.md5);
  return { content, summary };
};

/**
 * Gives a pending version its state, which becomes the workspace's with this commit. Serial and lineage are
 * those of the file; the announced values are used only where the file has none.
 * @throws KeelsonError `workspace.conflict` when it is not pending, and `workspace.state_…_conflict` when the
 * file may not follow the newest state, which may have changed since the announcement
 */
const finalizeState = async (
  context: StateContext,
  tx: Transaction,
  version: StateVersion,
  { content, summary }: ReceivedState,
): Promise<StateVersion> => {
  const { id } = version;
  const workspace = await workspaceRecords.find(tx, version.workspaceId);
  if (workspace === undefined) throw notFound('workspace');
  const state = await findWorkspaceState(tx, workspace);
  if (version.status !== 'pending' || state.pendingId !== id) throw noLongerExpected();
  const finalized: StateVersion = {
    ...version,
    status: 'finalized',
    state: await adoptContent(context, tx, content),
    serial: summary.serial ?? version.serial,
    lineage: summary.lineage ?? version.lineage,
    formatVersion: summary.formatVersion,
    runtimeVersion: summary.runtimeVersion,
    managedCount: summary.managedCount,
    outputCount: summary.outputs.length,
  };
  await requireSuccession(tx, state, finalized);
  const { outputs, resources } = summary;
  await recordInstances(tx, state.newestId, summary.instances, id);
  for (const step of context.stateSteps) await step.onStateStored?.(tx, finalized);
  stateVersionRecords.write(tx, [id], finalized);
  stateSummaries.write(tx, [id], { outputs, resources });
  await writeWorkspaceState(tx, workspace, withFinalized(state, finalized));
  return finalized;
};

const storeJsonState = async (
  context: StateContext,
  tx: Transaction,
  version: StateVersion,
  content: LooseContent,
): Promise<StateVersion> => {
  const withJson = { ...version, jsonState: await adoptContent(context, tx, content) };
  stateVersionRecords.write(tx, [version.id], withJson);
  return withJson;
};

/** The version that an upload belongs to, if the caller who created it may still write states. */
const requireAwaited = async (
  context: StateContext,
  reads: Reads,
  id: string,
  isAwaited: (version: StateVersion) => boolean,
): Promise<StateVersion> => {
  const version = await stateVersionRecords.find(reads, id);
  if (version === undefined) throw notFound('state version');
  await requireAnnouncer(context, reads, version, 'canCreateStateVersions');
  if (!isAwaited(version)) throw noLongerExpected();
  return version;
};

const awaitsState = ({ status }: StateVersion): boolean => status === 'pending';

const awaitsJsonState = ({ status, jsonState }: StateVersion): boolean =>
  jsonState === null && (status === 'pending' || status === 'finalized');

/**
 * Stores the state of a pending version and finalizes it. The caller holds a signed URL; it acts with the
 * current rights of the caller who created the version.
 * @throws KeelsonError as `receiveState` and `finalizeState`, `workspace.not_found` when that caller may no
 * longer write states
 */
export const uploadState = async (
  context: StateContext,
  id: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> => {
  const { store } = context;
  const announced = await requireAwaited(context, store, id, awaitsState);
  const received = await receiveState(context, announced, pieces);
  await store.transact(async (tx) => {
    const version = await requireAwaited(context, tx, id, awaitsState);
    await finalizeState(context, tx, version, received);
  });
};

/**
 * Stores the external form of a version's state, which may arrive before or after the state itself.
 * @throws KeelsonError as `uploadState`
 */
export const uploadJsonState = async (
  context: StateContext,
  id: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> => {
  const { store } = context;
  await requireAwaited(context, store, id, awaitsJsonState);
  const content = await storeContent(context, pieces, () => undefined);
  await store.transact(async (tx) => {
    const version = await requireAwaited(context, tx, id, awaitsJsonState);
    await storeJsonState(context, tx, version, content);
  });
};

async function* pieceOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/**
 * Creates a version with its state in one transaction, so that no other version comes between and a refused
 * request leaves no version behind.
 * @throws KeelsonError as `announceState` and `uploadState`
 */
export const createState = async (
  context: StateContext,
  principal: Principal,
  workspaceId: string,
  given: StateInput,
  state: Uint8Array,
  jsonState: Uint8Array | undefined,
): Promise<StateAccess> => {
  const { store } = context;
  await requireWritable(store, principal, workspaceId);
  const received = await receiveState(context, given, pieceOf(state));
  const { serial, lineage } = received.summary;
  const ofFile = { serial: serial ?? given.serial, lineage: lineage ?? given.lineage };
  const json = jsonState && (await storeContent(context, pieceOf(jsonState), () => undefined));
  return store.transact(async (tx) => {
    const access = await announceInTransaction(context, tx, principal, workspaceId, {
      ...given,
      ...ofFile,
    });
    const version = await finalizeState(context, tx, access.version, received);
    return {
      ...access,
      version: json === undefined ? version : await storeJsonState(context, tx, version, json),
    };
  });
};
