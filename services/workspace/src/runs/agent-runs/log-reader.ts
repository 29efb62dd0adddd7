/** A log in the format that clients read: it starts with byte 2, and ends with byte 3 once it is complete. */
import type { Reads } from '@keelson/storage';
import { readContentRange } from '../../state/contents/state-content-operations.ts';
import { EMPTIED_LOG, type RunLog, runLogChunks, runLogs } from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';

const START = Buffer.from([2]);
const END = Buffer.from([3]);

const readChunk = async (reads: Reads, phaseId: string, index: number) => {
  const chunk = await runLogChunks.find(reads, phaseId, String(index));
  if (chunk === undefined) throw new Error(`the log ${phaseId} lost chunk ${index}`);
  return chunk;
};

/**
 * Index of the chunk that contains the byte at `position` of the text, because readers poll from their last
 * position.
 */
const findChunk = async (
  reads: Reads,
  phaseId: string,
  chunkCount: number,
  position: number,
): Promise<number> => {
  let [low, high] = [0, chunkCount - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((await readChunk(reads, phaseId, middle)).startsAt <= position) low = middle;
    else high = middle - 1;
  }
  return low;
};

/** Parts of the text from position `from` up to `until`. */
const readChunks = async (
  reads: Reads,
  phaseId: string,
  { chunkCount }: RunLog,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<Uint8Array[]> => {
  const parts: Uint8Array[] = [];
  let position = from;
  for (
    let index = await findChunk(reads, phaseId, chunkCount, from);
    index < chunkCount && position < until;
    index += 1
  ) {
    const { startsAt, text } = await readChunk(reads, phaseId, index);
    const bytes = Buffer.from(text).subarray(position - startsAt, until - startsAt);
    parts.push(bytes);
    position += bytes.byteLength;
  }
  return parts;
};

/** Bytes of a phase's log from `offset`, at most `limit`. */
export const readLog = async (
  context: RunsContext,
  phaseId: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<Uint8Array> => {
  const found = await runLogs.find(context.store, phaseId);
  if (found === undefined) return new Uint8Array();
  const log = found.isWithheld ? EMPTIED_LOG : found;
  const { content, lengthBytes, isComplete } = log;
  const parts: Uint8Array[] = offset === 0 ? [START] : [];
  // Positions in the text, which starts after the start byte.
  const from = Math.max(offset - START.byteLength, 0);
  const until = Math.min(offset - START.byteLength + limit, lengthBytes);
  if (from < until) {
    const range = { from, until };
    if (content === undefined)
      parts.push(...(await readChunks(context.store, phaseId, log, range)));
    else parts.push(await readContentRange(context, content, range));
  }
  const endsAt = START.byteLength + lengthBytes;
  if (isComplete && offset <= endsAt && endsAt < offset + limit) parts.push(END);
  return Buffer.concat(parts).subarray(0, limit);
};
