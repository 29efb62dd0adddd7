/**
 * The bytes of states, in pieces that fit every channel a record travels on. Versions with the same
 * bytes share them, so their number is counted.
 */
import type { Reads, Transaction } from '@keelson/storage';
import { keyedRecords } from '../records/keyed-records.ts';

export const CHUNK_BYTES = 256 * 1024;

/** Keyed by `sc-…`. */
export const stateContents = keyedRecords<{
  readonly chunkCount: number;
  readonly references: number;
}>('shared/state-contents/');

/** Contents that no version refers to: under way, broken off, or given up. Keyed by `sc-…`. */
export const looseContents = keyedRecords<{ readonly removableFromMs: number }>(
  'shared/loose-state-contents/',
);

const CHUNKS = 'shared/state-chunks/';
const chunkPath = (contentId: string, index: number): string =>
  `${CHUNKS}${contentId}/${String(index).padStart(8, '0')}`;

export const writeChunk = (
  tx: Transaction,
  contentId: string,
  index: number,
  bytes: Uint8Array,
): void => tx.write(chunkPath(contentId, index), bytes);

export const readChunk = async (
  reads: Reads,
  contentId: string,
  index: number,
): Promise<Uint8Array | undefined> => (await reads.read(chunkPath(contentId, index)))?.value;

/** Deletes up to `limit` chunks. @returns how many there were */
export const deleteChunks = async (
  tx: Transaction,
  contentId: string,
  limit: number,
): Promise<number> => {
  const below = `${CHUNKS}${contentId}/`;
  const names = await tx.list(below, { limit });
  for (const name of names) tx.delete(below + name);
  return names.length;
};
