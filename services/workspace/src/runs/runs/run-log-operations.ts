/** The log of a phase, in the chunks in which its agent sends it. */
import { KeelsonError } from '@keelson/errors';
import { readableOnly, type Transaction } from '@keelson/storage';
import { runLogChunks, runLogs } from '../model/run-records.ts';

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
