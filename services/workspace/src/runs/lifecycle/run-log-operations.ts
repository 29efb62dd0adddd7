/** The log of a phase, in the chunks in which its agent sends it. */
import { KeelsonError } from '@keelson/errors';
import {
  readableOnly,
  type Transaction,
  type TransactOptions,
  unlessDamaged,
} from '@keelson/storage';
import { adoptContent, storeContent } from '../../state/contents/state-content-operations.ts';
import { runLogChunks, runLogs } from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';

/** Largest log of one phase, in bytes. */
const MAX_LOG_BYTES = 32 * 1024 * 1024;

export const startLog = (tx: Transaction, phaseId: string): void =>
  runLogs.write(tx, [phaseId], { chunkCount: 0, lengthBytes: 0, isComplete: false });

/** @throws KeelsonError `workspace.conflict` when the phase has ended, `request.too_large` */
export const appendLog = async (tx: Transaction, phaseId: string, text: string): Promise<void> => {
  const log = await runLogs.find(tx, phaseId);
  if (log === undefined || log.isComplete) {
    throw new KeelsonError('workspace.conflict', { text: 'the log is complete' });
  }
  const { chunkCount, lengthBytes: startsAt } = log;
  const lengthBytes = startsAt + Buffer.byteLength(text);
  if (lengthBytes > MAX_LOG_BYTES) {
    throw new KeelsonError('request.too_large', { limitBytes: MAX_LOG_BYTES });
  }
  runLogChunks.write(tx, [phaseId, String(chunkCount)], { startsAt, text });
  runLogs.write(tx, [phaseId], { chunkCount: chunkCount + 1, lengthBytes, isComplete: false });
};

/** @param lastWords text for readers, appended when the agent can no longer write */
export const completeLog = async (
  tx: Transaction,
  phaseId: string,
  lastWords?: string,
): Promise<void> => {
  const log = await runLogs.find(readableOnly(tx), phaseId);
  if (log === undefined || log.isComplete) return;
  if (lastWords !== undefined && log.lengthBytes + lastWords.length < MAX_LOG_BYTES) {
    await appendLog(tx, phaseId, lastWords);
  }
  const ended = await runLogs.find(tx, phaseId);
  if (ended !== undefined) runLogs.write(tx, [phaseId], { ...ended, isComplete: true });
};

async function* textOf({ store }: RunsContext, phaseId: string): AsyncGenerator<Uint8Array> {
  const { chunkCount = 0 } = (await runLogs.find(store, phaseId)) ?? {};
  for (let index = 0; index < chunkCount; index += 1) {
    const chunk = await runLogChunks.find(store, phaseId, String(index));
    if (chunk === undefined) throw new Error(`the log ${phaseId} lost chunk ${index}`);
    yield Buffer.from(chunk.text);
  }
}

const moveLog = async (
  context: RunsContext,
  phaseId: string,
  options: TransactOptions,
): Promise<void> => {
  const { store } = context;
  const content = await storeContent(context, textOf(context, phaseId), () => undefined);
  await store.transact(async (tx) => {
    const log = await runLogs.find(tx, phaseId);
    if (log?.isComplete !== true || log.content !== undefined || log.isRemoved) return;
    const moved = await adoptContent(context, tx, content);
    runLogs.write(tx, [phaseId], { ...log, chunkCount: 0, content: moved });
    for (const number of await runLogChunks.keys(tx, [phaseId]))
      runLogChunks.delete(tx, phaseId, number);
  }, options);
};

/** Moves the texts of ended logs to object storage, if it is configured. Logs in progress stay in records. */
export const moveEndedLogs = async (
  context: RunsContext,
  options: TransactOptions,
): Promise<void> => {
  const { store, contentPlaces } = context;
  if (contentPlaces.current.place !== 'objects') return;
  for (const folder of await runLogChunks.keys(store, [])) {
    const phaseId = folder.slice(0, -1);
    const log = await runLogs.find(readableOnly(store), phaseId);
    if (log?.isComplete === true && log.isRemoved === undefined)
      await unlessDamaged(moveLog(context, phaseId, options));
  }
};
