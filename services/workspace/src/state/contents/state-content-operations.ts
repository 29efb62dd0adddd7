/** The bytes of states: stored while they arrive, read in pieces, removed when no version refers to them. */
import { createHash } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { newResourceId } from '@keelson/jsonapi';
import { readableOnly, type Store, type Transaction, type TransactOptions } from '@keelson/storage';
import type { ServiceContext } from '../../base/service-context.ts';
import { SIGNED_URL_LIFETIME_SECONDS } from '../../base/signed-urls/domain/url-signature.ts';
import type { StoredContent } from './domain/stored-content.ts';
import {
  CHUNK_BYTES,
  deleteChunks,
  looseContents,
  readChunk,
  stateContents,
  writeChunk,
} from './state-content-records.ts';

/** Stored, but not yet referred to: `adoptContent` takes it over, otherwise it is removed after a day. */
export interface LooseContent extends StoredContent {
  readonly chunkCount: number;
  readonly md5: string;
}

const inChunks = async function* (
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  for await (const piece of pieces) {
    held.push(piece);
    heldBytes += piece.byteLength;
    if (heldBytes < CHUNK_BYTES) continue;
    let rest: Uint8Array = Buffer.concat(held);
    for (; rest.byteLength >= CHUNK_BYTES; rest = rest.subarray(CHUNK_BYTES))
      yield rest.subarray(0, CHUNK_BYTES);
    held = [rest];
    heldBytes = rest.byteLength;
  }
  if (heldBytes > 0) yield Buffer.concat(held);
};

/**
 * Stores bytes as they arrive, with a commit for each chunk.
 * @param observe sees every piece before it is stored, and may refuse by throwing
 */
export const storeContent = async (
  { store, clock }: ServiceContext,
  pieces: AsyncIterable<Uint8Array>,
  observe: (piece: Uint8Array) => void,
): Promise<LooseContent> => {
  const id = newResourceId('sc');
  const removableFromMs = clock.nowMs() + SIGNED_URL_LIFETIME_SECONDS * 1000;
  await store.transact((tx) => looseContents.write(tx, [id], { removableFromMs }));
  const hash = createHash('md5');
  let chunkCount = 0;
  let sizeBytes = 0;
  const observed = async function* () {
    for await (const piece of pieces) {
      hash.update(piece);
      observe(piece);
      yield piece;
    }
  };
  for await (const chunk of inChunks(observed())) {
    const index = chunkCount;
    await store.transact((tx) => writeChunk(tx, id, index, chunk));
    chunkCount += 1;
    sizeBytes += chunk.byteLength;
  }
  return { id, sizeBytes, chunkCount, md5: hash.digest('hex') };
};

/** Makes stored bytes part of the records that the transaction writes. */
export const adoptContent = async (
  { clock }: ServiceContext,
  tx: Transaction,
  { id, sizeBytes, chunkCount }: LooseContent,
): Promise<StoredContent> => {
  const loose = await looseContents.find(tx, id);
  if (loose === undefined || loose.removableFromMs <= clock.nowMs()) {
    throw new KeelsonError('request.deadline_exceeded');
  }
  looseContents.delete(tx, id);
  stateContents.write(tx, [id], { chunkCount, references: 1 });
  return { id, sizeBytes };
};

/** Counts one more version that shares these bytes. */
export const shareContent = async (tx: Transaction, content: StoredContent | null) => {
  const found = content && (await stateContents.find(tx, content.id));
  if (!content || !found) return null;
  stateContents.write(tx, [content.id], { ...found, references: found.references + 1 });
  return content;
};

/**
 * Counts one version less that shares these bytes. After the last one they are removed in the
 * background. Where the count is damaged, they stay.
 */
export const releaseContent = async (
  tx: Transaction,
  content: StoredContent | null,
): Promise<void> => {
  const found = content && (await stateContents.find(readableOnly(tx), content.id));
  if (!content || !found) return;
  if (found.references > 1) {
    stateContents.write(tx, [content.id], { ...found, references: found.references - 1 });
    return;
  }
  stateContents.delete(tx, content.id);
  looseContents.write(tx, [content.id], { removableFromMs: 0 });
};

/** The bytes in order, read as fast as the receiver consumes them. */
export const readContent = async function* (
  store: Store,
  { id }: StoredContent,
): AsyncGenerator<Uint8Array, void, void> {
  const { chunkCount } = (await stateContents.find(store, id)) ?? { chunkCount: 0 };
  yield* readLooseContent(store, { id, chunkCount });
};

/** The bytes of stored content that no record refers to yet. */
export const readLooseContent = async function* (
  store: Store,
  { id, chunkCount }: Pick<LooseContent, 'id' | 'chunkCount'>,
): AsyncGenerator<Uint8Array, void, void> {
  for (let index = 0; index < chunkCount; index += 1) {
    const chunk = await readChunk(store, id, index);
    if (chunk === undefined) throw new Error(`${id} lost chunk ${index}`);
    yield chunk;
  }
};

const CHUNKS_PER_COMMIT = 64;

/**
 * Removes chunks of unreferenced contents that have expired.
 * @returns true when there may be more
 */
export const removeLooseContents = async (
  { store, clock }: ServiceContext,
  options: TransactOptions,
): Promise<boolean> => {
  for (const id of await looseContents.keys(store, [])) {
    const loose = await looseContents.find(store, id);
    if (loose === undefined || loose.removableFromMs > clock.nowMs()) continue;
    const removed = await store.transact(async (tx) => {
      const count = await deleteChunks(tx, id, CHUNKS_PER_COMMIT);
      if (count < CHUNKS_PER_COMMIT) looseContents.delete(tx, id);
      return count;
    }, options);
    if (removed === CHUNKS_PER_COMMIT) return true;
  }
  return false;
};
