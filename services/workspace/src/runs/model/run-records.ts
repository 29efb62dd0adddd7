import {
  collection,
  type Reads,
  readableOnly,
  rowContent,
  type Transaction,
} from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { storedContentShape } from '../../state/contents/domain/stored-content.ts';
import { releaseContent } from '../../state/contents/state-content-operations.ts';
import { isFinal, type Run, runShape } from './domain/run.ts';
import { runCommentShape } from './domain/run-comment.ts';

/** Keyed by `run-…`. "open" lists the runs of a workspace that have not ended. */
export const runRecords = collection('runs', {
  scope: 'shared',
  version: 1,
  shape: runShape,
  kind: 'run',
  owner: { kind: 'workspace', by: 'workspaceId' },
  index: [
    'workspaceId',
    {
      name: 'open',
      values: ({ workspaceId, status }) => (isFinal(status) ? [] : [workspaceId]),
      rows: {
        at: 'open-runs',
        content: rowContent(
          Type.Object({ createdAtMs: Type.Number() }),
          ({ createdAtMs }: Run) => ({ createdAtMs }),
        ),
      },
    },
  ],
});

export type RunPhase = 'plan' | 'apply';

/** Plan and apply have the random part of their run's id under their own prefixes. */
export const toPhaseId = (runId: string, phase: RunPhase): string =>
  runId.replace('run-', `${phase}-`);

/** The run to which a plan or apply belongs. */
export const toRunId = (phaseId: string): string => phaseId.replace(/^(plan|apply)-/, 'run-');

/** The phase that an agent executes, or executed last. */
export const toPhase = (run: Pick<Run, 'statusTimesMs'>): RunPhase =>
  run.statusTimesMs.applying === undefined ? 'plan' : 'apply';

export const runLogShape = Type.Object({
  chunkCount: Type.Number(),
  lengthBytes: Type.Number(),
  isComplete: Type.Boolean(),
  /** The whole text, once an ended log was moved to object storage; there are no chunks then. */
  content: Type.Optional(storedContentShape),
  /** Time at which a policy marked the run's data for deletion; stored with the log of the plan. */
  dueSinceMs: Type.Optional(Type.Number()),
  /** Set while the log and the phase's files are withheld, which can be undone. */
  isWithheld: Type.Optional(Type.Literal(true)),
  /** Set after a policy or a caller deleted the log and files. */
  isRemoved: Type.Optional(Type.Literal(true)),
});
export type RunLog = Shaped<typeof runLogShape>;

/** Keyed by `plan-…`, `apply-…`. */
export const runLogs = collection('run-logs', { scope: 'shared', version: 1, shape: runLogShape });

/**
 * Keyed by `plan-…` or `apply-…`, number from 0; `startsAt` is the position of the chunk's first byte in the
 * log.
 */
export const runLogChunks = collection('run-log-chunks', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ startsAt: Type.Number(), text: Type.String() }),
});

/** Files that agents upload for a phase, in addition to its log. */
export const RUN_FILE_KINDS = [
  'plan-file',
  'json-output',
  'json-output-redacted',
  'json-schema',
  'errored-state',
] as const;
export type RunFileKind = (typeof RUN_FILE_KINDS)[number];

/** Keyed by `plan-…` or `apply-…`, kind. */
export const runFiles = collection('run-files', {
  scope: 'shared',
  version: 1,
  shape: storedContentShape,
});

/** Run id, number of the comment from 1, as six digits. */
export const runComments = collection('run-comments', {
  scope: 'shared',
  version: 1,
  shape: runCommentShape,
  owner: { kind: 'run', by: '*' },
  index: ['id'],
});

/** @returns whether the phase had a log */
const removeTextOf = async (tx: Transaction, phaseId: string): Promise<boolean> => {
  for (const number of await runLogChunks.keys(tx, [phaseId])) {
    runLogChunks.delete(tx, phaseId, number);
  }
  const log = await runLogs.find(readableOnly(tx), phaseId);
  await releaseContent(tx, log?.content ?? null);
  return log !== undefined;
};

const removeFileOf = async (tx: Transaction, phaseId: string, kind: RunFileKind): Promise<void> => {
  await releaseContent(tx, (await runFiles.find(readableOnly(tx), phaseId, kind)) ?? null);
  runFiles.delete(tx, phaseId, kind);
};

const PHASES = ['plan', 'apply'] as const satisfies readonly RunPhase[];

const removePhasesOf = async (tx: Transaction, runId: string): Promise<void> => {
  for (const phase of PHASES) {
    const phaseId = toPhaseId(runId, phase);
    await removeTextOf(tx, phaseId);
    runLogs.delete(tx, phaseId);
    for (const kind of RUN_FILE_KINDS) await removeFileOf(tx, phaseId, kind);
  }
};

/** A log without text, complete, so that clients stop reading. */
export const EMPTIED_LOG: RunLog = {
  chunkCount: 0,
  lengthBytes: 0,
  isComplete: true,
  isRemoved: true,
};

/**
 * Deletes the log text of a phase, which is then complete and empty, and its files. A state that an apply
 * could not store is kept, because it may be the last copy.
 */
export const removePhaseData = async (tx: Transaction, phaseId: string): Promise<void> => {
  if (await removeTextOf(tx, phaseId)) runLogs.write(tx, [phaseId], EMPTIED_LOG);
  for (const kind of RUN_FILE_KINDS) {
    if (kind !== 'errored-state') await removeFileOf(tx, phaseId, kind);
  }
};

/** Deletes the logs and files of both phases of a run. */
export const removeDataOf = async (tx: Transaction, runId: string): Promise<void> => {
  for (const phase of PHASES) await removePhaseData(tx, toPhaseId(runId, phase));
};

/** Whether all logs of a run that had an agent are deleted. */
export const isEmptied = async (reads: Reads, runId: string): Promise<boolean> => {
  const logs = await Promise.all(
    PHASES.map((phase) => runLogs.find(reads, toPhaseId(runId, phase))),
  );
  return logs.every((log) => log === undefined || log.isRemoved);
};

/** Removes logs and files of the runs of a workspace that is deleted with its runs. */
export const removeRunDataOf = async (tx: Transaction, workspaceId: string): Promise<void> => {
  for (const id of await runRecords.by.workspaceId.keys(tx, workspaceId)) {
    await removePhasesOf(tx, id);
  }
};
