/** Stored contents: written while they arrive, read in pieces, removed when no version refers to them. */

import { createHash } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { newResourceId } from '@keelson/jsonapi';
import { readableOnly, type Transaction, type TransactOptions } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import type { ServiceContext } from '../../base/service-context.ts';
import { SIGNED_URL_LIFETIME_SECONDS } from '../../base/signed-urls/domain/url-signature.ts';
import type { ContentBodies, ContentPlaces } from './content-bodies.ts';
import {
  type StoredBody,
  type StoredContent,
  storedBodyShape,
  storedContentShape,
} from './domain/stored-content.ts';
import { stateContents, unreferencedContents } from './state-content-records.ts';

export interface ContentContext extends ServiceContext {
  readonly contentPlaces: ContentPlaces;
}

/** Stored, but not yet referred to: `adoptContent` takes it over, otherwise it is removed after a day. */
export const looseContentShape = Type.Object({
  ...storedContentShape.properties,
  body: storedBodyShape,
  md5: Type.String(),
});
export type LooseContent = Shaped<typeof looseContentShape>;

const requireBodies = (places: ContentPlaces, place: StoredBody['place']): ContentBodies => {
  const bodies = places.find(place);
  if (bodies === undefined) throw new KeelsonError('objects.not_configured');
  return bodies;
};

const inPieces = async function* (
  chunks: AsyncIterable<Uint8Array>,
  pieceBytes: number,
): AsyncGenerator<Uint8Array, void, void> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    heldBytes += chunk.byteLength;
    if (heldBytes < pieceBytes) continue;
    let rest: Uint8Array = Buffer.concat(held);
    for (; rest.byteLength >= pieceBytes; rest = rest.subarray(pieceBytes))
      yield rest.subarray(0, pieceBytes);
    held = [rest];
    heldBytes = rest.byteLength;
  }
  if (heldBytes > 0) yield Buffer.concat(held);
};

/**
 * Stores bytes as they arrive.
 * @param observe sees every chunk before it is stored, and may refuse by throwing
 */
export const storeContent = async (
  { store, clock, contentPlaces }: ContentContext,
  chunks: AsyncIterable<Uint8Array>,
  observe: (chunk: Uint8Array) => void,
): Promise<LooseContent> => {
  const id = newResourceId('sc');
  const bodies = contentPlaces.current;
  const { place } = bodies;
  const removableFromMs = clock.nowMs() + SIGNED_URL_LIFETIME_SECONDS * 1000;
  // Before the first byte, so that the bytes of an interrupted upload are found.
  await store.transact((tx) => unreferencedContents.write(tx, [id], { place, removableFromMs }));
  const hash = createHash('md5');
  const digests: string[] = [];
  let sizeBytes = 0;
  const observed = async function* () {
    for await (const chunk of chunks) {
      hash.update(chunk);
      observe(chunk);
      yield chunk;
    }
  };
  for await (const piece of inPieces(observed(), bodies.pieceBytes)) {
    digests.push(await bodies.write(id, digests.length, piece));
    sizeBytes += piece.byteLength;
  }
  return { id, sizeBytes, body: { place, digests }, md5: hash.digest('hex') };
};

/** Makes stored bytes part of the records that the transaction writes. */
export const adoptContent = async (
  { clock }: ServiceContext,
  tx: Transaction,
  { id, sizeBytes, body }: LooseContent,
): Promise<StoredContent> => {
  const loose = await unreferencedContents.find(tx, id);
  if (loose?.removableFromMs === undefined || loose.removableFromMs <= clock.nowMs()) {
    throw new KeelsonError('request.deadline_exceeded');
  }
  unreferencedContents.delete(tx, id);
  stateContents.write(tx, [id], { ...body, references: 1 });
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
  unreferencedContents.write(tx, [content.id], { place: found.place });
};

/**
 * The bytes in order, read as fast as the receiver consumes them. The first piece is read before this
 * resolves, so that a refusal can still be answered.
 */
export const readContent = async (
  context: ContentContext,
  { id }: StoredContent,
): Promise<AsyncIterable<Uint8Array>> => {
  const { place = 'records', digests = [] } = (await stateContents.find(context.store, id)) ?? {};
  return readLooseContent(context, { id, body: { place, digests } });
};

/** The bytes of stored content that no record refers to yet; as `readContent`. */
export const readLooseContent = async (
  { contentPlaces }: Pick<ContentContext, 'contentPlaces'>,
  { id, body: { place, digests } }: Pick<LooseContent, 'id' | 'body'>,
): Promise<AsyncIterable<Uint8Array>> => {
  const bodies = requireBodies(contentPlaces, place);
  const [first, ...rest] = digests;
  const firstPiece = first === undefined ? new Uint8Array() : await bodies.read(id, 0, first);
  return (async function* () {
    yield firstPiece;
    for (const [index, digest] of rest.entries()) yield await bodies.read(id, index + 1, digest);
  })();
};

/** The bytes from position `from` up to `until`, which is within the content. */
export const readContentRange = async (
  { store, contentPlaces }: ContentContext,
  { id }: StoredContent,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<Uint8Array> => {
  const { place = 'records', digests = [] } = (await stateContents.find(store, id)) ?? {};
  const bodies = requireBodies(contentPlaces, place);
  const parts: Uint8Array[] = [];
  for (let index = Math.floor(from / bodies.pieceBytes); ; index += 1) {
    const startsAt = index * bodies.pieceBytes;
    const digest = digests[index];
    if (startsAt >= until || digest === undefined) return Buffer.concat(parts);
    const piece = await bodies.read(id, index, digest);
    parts.push(piece.subarray(Math.max(from - startsAt, 0), until - startsAt));
  }
};

/**
 * Removes the bytes of unreferenced contents that have expired.
 * @returns true when there may be more
 */
export const removeLooseContents = async (
  { store, clock, contentPlaces }: ContentContext,
  options: TransactOptions,
): Promise<boolean> => {
  for (const id of await unreferencedContents.keys(store, [])) {
    const loose = await unreferencedContents.find(store, id);
    if (loose === undefined) continue;
    const bodies = contentPlaces.find(loose.place);
    if (bodies === undefined) continue;
    // Callers that release a content do not know how long it is stored.
    const removableFromMs = loose.removableFromMs ?? clock.nowMs() + bodies.keepMs;
    if (removableFromMs <= clock.nowMs()) {
      if (await bodies.remove(id, options)) return true;
      await store.transact((tx) => unreferencedContents.delete(tx, id), options);
    } else if (loose.removableFromMs === undefined)
      await store.transact(
        (tx) => unreferencedContents.write(tx, [id], { place: loose.place, removableFromMs }),
        options,
      );
  }
  return false;
};
