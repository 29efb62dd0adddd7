/**
 * The bytes of states, in chunks small enough for every channel that carries records. Versions with the same
 * bytes share them, so that references are counted.
 */
import type { Reads, Transaction } from '@keelson/storage';
import { keyedRecords } from '../../base/keyed-records.ts';

export const CHUNK_BYTES = 256 * 1024;

/** Keyed by `sc-…`. */
export const stateContents = keyedRecords<{
  readonly chunkCount: number;
  readonly references: number;
}>('shared/state-contents/');

/**
 * Contents that no version refers to: uploads in progress or interrupted, and released contents. Keyed by
 * `sc-…`.
 */
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

/**
 * Deletes up to `limit` chunks.
 * @returns the number of deleted chunks
 */
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
