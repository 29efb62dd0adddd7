/**
 * Bytes in object storage, encrypted by the barrier before they leave. The key of an object is also the path
 * for which it is encrypted, so that objects cannot be exchanged.
 */
import { createHash } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { MAX_LISTED, type ObjectStorage } from '@keelson/objects';
import type { Store } from '@keelson/storage';
import type { ContentBodies } from './content-bodies.ts';

/** Beginning of the keys of all contents. */
export const CONTENT_OBJECTS = 'contents/';

export const contentKey = (contentId: string, index: number): string =>
  `${CONTENT_OBJECTS}${contentId}/${String(index).padStart(8, '0')}`;

/** Content id and index of the piece; undefined for a key of something else. */
export const parseContentKey = (
  key: string,
): { readonly contentId: string; readonly index: number } | undefined => {
  const [, contentId, index] = /^contents\/(sc-[A-Za-z0-9]+)\/(\d{8})$/.exec(key) ?? [];
  return contentId === undefined ? undefined : { contentId, index: Number(index) };
};

/** The path for which the bytes are encrypted. */
export const contentPath = (key: string): string => `shared/${key}`;

export const digestOf = (stored: Uint8Array): string =>
  createHash('sha256').update(stored).digest('hex');

/** Finds an object that is not in the storage of this cluster, such as one that is still being copied. */
export type FindElsewhere = (key: string, digest: string) => Promise<Uint8Array | undefined>;

export interface ObjectBodiesParts {
  readonly storage: ObjectStorage;
  readonly store: Store;
  readonly keepMs: number;
  readonly findElsewhere?: FindElsewhere;
}

export const objectBodies = ({
  storage,
  store,
  keepMs,
  findElsewhere = () => Promise.resolve(undefined),
}: ObjectBodiesParts): ContentBodies => ({
  place: 'objects',
  // Encrypted, a piece fits one message between clusters.
  pieceBytes: 768 * 1024,
  keepMs,
  write: async (contentId, index, bytes) => {
    const key = contentKey(contentId, index);
    const stored = store.encrypt(contentPath(key), bytes);
    await storage.put(key, stored);
    return digestOf(stored);
  },
  read: async (contentId, index, digest) => {
    const key = contentKey(contentId, index);
    const stored = (await storage.get(key)) ?? (await findElsewhere(key, digest));
    if (stored === undefined) throw new KeelsonError('objects.missing', { key });
    if (digestOf(stored) !== digest) throw new KeelsonError('objects.damaged', { key });
    return store.decrypt(contentPath(key), stored);
  },
  remove: async (contentId) => {
    const found = await storage.list(`${CONTENT_OBJECTS}${contentId}/`, { limit: MAX_LISTED });
    await storage.delete(found.map(({ key }) => key));
    return found.length === MAX_LISTED;
  },
});
