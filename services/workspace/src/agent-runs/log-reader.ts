/** A log as clients read it: byte 2 at its start, byte 3 at its end once nothing more is to come. */
import type { Reads } from '@keelson/storage';
import { runLogChunks, runLogs } from '../runs/run-records.ts';

const START = Buffer.from([2]);
const END = Buffer.from([3]);

/** Bytes of a phase's log from `offset`, at most `limit`. */
export const readLog = async (
  reads: Reads,
  phaseId: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<Uint8Array> => {
  const log = await runLogs.find(reads, phaseId);
  if (log === undefined) return new Uint8Array();
  const parts: Uint8Array[] = [START];
  for (let index = 0; index < log.chunkCount; index += 1) {
    const chunk = await runLogChunks.find(reads, phaseId, String(index));
    parts.push(Buffer.from(chunk?.text ?? ''));
  }
  if (log.isComplete) parts.push(END);
  return Buffer.concat(parts).subarray(offset, offset + limit);
};
