/** Bytes in records of the store, in pieces small enough for every channel that carries records. */
import { createHash } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import type { ContentBodies } from './content-bodies.ts';

const CHUNKS = 'shared/state-chunks/';
const CHUNKS_PER_COMMIT = 64;

const chunkPath = (contentId: string, index: number): string =>
  `${CHUNKS}${contentId}/${String(index).padStart(8, '0')}`;

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export const recordBodies = (store: Store): ContentBodies => ({
  place: 'records',
  pieceBytes: 256 * 1024,
  // A snapshot contains them.
  keepMs: 0,
  write: async (contentId, index, bytes) => {
    await store.transact((tx) => tx.write(chunkPath(contentId, index), bytes));
    return sha256(bytes);
  },
  read: async (contentId, index, digest) => {
    const key = chunkPath(contentId, index);
    const bytes = (await store.read(key))?.value;
    if (bytes === undefined) throw new KeelsonError('objects.missing', { key });
    if (sha256(bytes) !== digest) throw new KeelsonError('objects.damaged', { key });
    return bytes;
  },
  remove: async (contentId, options) => {
    const below = `${CHUNKS}${contentId}/`;
    const removed = await store.transact(async (tx) => {
      const names = await tx.list(below, { limit: CHUNKS_PER_COMMIT });
      for (const name of names) tx.delete(below + name);
      return names.length;
    }, options);
    return removed === CHUNKS_PER_COMMIT;
  },
});
