/**
 * Revocation lists. A list may be tens of megabytes, so its bytes are stored in parts below its number; one
 * record for each group of issuers names the lists that are current.
 */

import { localRecords, type MountScope, sharedRecords } from '@keelson/engine';
import { type Fence, type Reads, type RecordCollection, type Store } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import type { RevocationScope } from '../certificates/revocation-records.ts';
import { mountBytes } from '../mounts/mount-records.ts';

export const storedCrlShape = Type.Object({
  number: Type.Number(),
  thisUpdateMs: Type.Number(),
  nextUpdateMs: Type.Number(),
  partCount: Type.Number(),
  /** When it became current. */
  storedAtMs: Type.Number(),
});
export type StoredCrl = Shaped<typeof storedCrlShape>;

export const crlRecordShape = Type.Object({
  complete: storedCrlShape,
  /** Adds to `complete`; undefined where delta lists are not made. */
  delta: Type.Optional(storedCrlShape),
  /** Number of the last build: lists of both kinds share one sequence, which only grows. */
  lastNumber: Type.Number(),
});
export type CrlRecord = Shaped<typeof crlRecordShape>;

/** Current lists by group of issuers. */
const ownLists = localRecords('crls', { version: 1, shape: crlRecordShape });
const unifiedLists = sharedRecords('unified-crls', { version: 1, shape: crlRecordShape });

export const crlRecords = (
  mount: MountScope,
  scope: RevocationScope = 'own',
): RecordCollection<CrlRecord> => (scope === 'own' ? ownLists : unifiedLists)(mount);

const ownParts = mountBytes('crl-parts', 'local');
const unifiedParts = mountBytes('unified-crl-parts', 'shared');

/** Written in a few milliseconds. */
const PART_BYTES = 512 * 1024;

export type CrlKind = 'complete' | 'delta';

/** A list among those of a mount. */
export interface CrlLocation {
  readonly mount: MountScope;
  readonly scope: RevocationScope;
  readonly groupId: string;
  readonly kind: CrlKind;
}

const partsPrefix = ({ mount, scope, groupId, kind }: CrlLocation, number: number): string =>
  `${(scope === 'own' ? ownParts : unifiedParts).prefixOf(mount)}${groupId}/${kind}-${number}/`;

/** Writes the bytes of a CRL, with a commit for each part; returns the number of parts. */
export const writeCrlParts = async (
  store: Store,
  place: CrlLocation,
  crl: { readonly number: number; readonly der: Uint8Array },
  fence: Fence,
): Promise<number> => {
  const prefix = partsPrefix(place, crl.number);
  const partCount = Math.ceil(crl.der.byteLength / PART_BYTES);
  for (let part = 0; part < partCount; part++)
    await store.transact(
      (tx) =>
        tx.write(`${prefix}${part}`, crl.der.subarray(part * PART_BYTES, (part + 1) * PART_BYTES)),
      { fence },
    );
  return partCount;
};

/** Removes a list by its number, and what unfinished builds of this number left. */
export const deleteCrlParts = async (
  store: Store,
  place: CrlLocation,
  number: number,
): Promise<void> => {
  const prefix = partsPrefix(place, number);
  await store.transact(async (tx) => {
    for (const name of await tx.list(prefix)) tx.delete(prefix + name);
  });
};

/** @throws Error when a part is missing: the list was replaced while it was read */
export const readCrlParts = async (
  reads: Reads,
  place: CrlLocation,
  { number, partCount }: StoredCrl,
): Promise<Uint8Array> => {
  const parts: Uint8Array[] = [];
  for (let part = 0; part < partCount; part++) {
    const record = await reads.read(`${partsPrefix(place, number)}${part}`);
    if (record === undefined) throw new Error(`part ${part} of list ${number} is missing`);
    parts.push(record.value);
  }
  return Buffer.concat(parts);
};
