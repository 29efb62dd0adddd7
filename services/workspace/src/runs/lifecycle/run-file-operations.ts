/** Plan files, the external forms of plans, and states that an apply could not store. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { StoredContent } from '../../state/contents/domain/stored-content.ts';
import {
  adoptContent,
  releaseContent,
  storeContent,
} from '../../state/contents/state-content-operations.ts';
import type { Run } from '../model/domain/run.ts';
import {
  RUN_FILE_KINDS,
  type RunFileKind,
  runFiles,
  runLogs,
  runRecords,
  toRunId,
} from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { loadRunAccess } from './run-operations.ts';

const isKind = (kind: string): kind is RunFileKind =>
  (RUN_FILE_KINDS as readonly string[]).includes(kind);

/** Largest file, in bytes. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;

/** An errored state is accepted once an apply has started and not succeeded; other files, while planning. */
const isExpected = ({ status, statusTimesMs }: Run, kind: RunFileKind): boolean =>
  kind === 'errored-state'
    ? statusTimesMs.applying !== undefined && status !== 'applied'
    : status === 'planning';

const requireExpected = async (
  reads: Reads,
  phaseId: string,
  kind: string,
): Promise<RunFileKind> => {
  const run = await runRecords.find(reads, toRunId(phaseId));
  if (run === undefined || !isKind(kind)) throw notFound('run');
  if (!isExpected(run, kind)) {
    throw new KeelsonError('workspace.conflict', {
      text: `the run is ${run.status} and takes no ${kind} (any more)`,
    });
  }
  return kind;
};

/**
 * Stores a file of a phase, replacing an earlier one. Authorized by the signed URL that the agent received.
 * @throws KeelsonError `request.too_large`, `workspace.conflict`
 */
export const uploadRunFile = async (
  context: RunsContext,
  phaseId: string,
  kind: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> => {
  const { store } = context;
  await requireExpected(store, phaseId, kind);
  let sizeBytes = 0;
  const content = await storeContent(context, pieces, (piece) => {
    sizeBytes += piece.byteLength;
    if (sizeBytes > MAX_FILE_BYTES) {
      throw new KeelsonError('request.too_large', { limitBytes: MAX_FILE_BYTES });
    }
  });
  await store.transact(async (tx) => {
    const expected = await requireExpected(tx, phaseId, kind);
    await releaseContent(tx, (await runFiles.find(tx, phaseId, expected)) ?? null);
    runFiles.write(tx, [phaseId, expected], await adoptContent(context, tx, content));
  });
};

/**
 * undefined before the upload, or while the data of its phase is withheld. A state that an apply could not
 * store is never withheld, because it may be the last copy.
 */
const findShownFile = async (
  reads: Reads,
  phaseId: string,
  kind: string,
): Promise<StoredContent | undefined> => {
  const isWithheld =
    kind !== 'errored-state' && (await runLogs.find(reads, phaseId))?.isWithheld === true;
  return isWithheld ? undefined : runFiles.find(reads, phaseId, kind);
};

/** Permissions that files require. */
const READERS = {
  // The file contains every value of the configuration.
  'json-output': 'canUpdate',
  'json-schema': 'canUpdate',
  'json-output-redacted': 'canReadRun',
  'errored-state': 'canCreateStateVersions',
} as const;

/** The phase of a run may read the files of the run; others read what they could be redirected to. */
const requireReader = async (
  reads: Reads,
  reader: Principal,
  phaseId: string,
  kind: string,
): Promise<void> => {
  if (reader.kind === 'run') {
    if (reader.id !== toRunId(phaseId)) throw notFound('run');
    return;
  }
  const permission = Object.hasOwn(READERS, kind)
    ? READERS[kind as keyof typeof READERS]
    : undefined;
  if (permission === undefined || reader.kind === 'organization') throw notFound('run');
  await loadRunAccess(reads, reader, toRunId(phaseId), permission);
};

/** A file of a phase. @throws KeelsonError `workspace.not_found` also for a reader who may not read it */
export const requireRunFile = async (
  reads: Reads,
  reader: Principal,
  phaseId: string,
  kind: string,
): Promise<StoredContent> => {
  await requireReader(reads, reader, phaseId, kind);
  const content = await findShownFile(reads, phaseId, kind);
  if (content === undefined) throw notFound(kind);
  return content;
};

/**
 * Whether a file that the caller may read exists yet.
 * @throws KeelsonError `workspace.not_found` when the caller, such as an organization token, may not read it
 */
export const isRunFileReady = async (
  reads: Reads,
  principal: Principal,
  phaseId: string,
  kind: keyof typeof READERS,
): Promise<boolean> => {
  if (principal.kind === 'organization') throw notFound('run');
  await loadRunAccess(reads, principal, toRunId(phaseId), READERS[kind]);
  return (await findShownFile(reads, phaseId, kind)) !== undefined;
};
