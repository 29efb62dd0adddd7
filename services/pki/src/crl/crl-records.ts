/**
 * Revocation lists. A list may be tens of megabytes, so its bytes are stored in parts below its number; one
 * record for each group of issuers names the lists that are current.
 */
import {
  type Fence,
  jsonRecords,
  type Reads,
  type RecordCollection,
  type Store,
} from '@keelson/storage';
import type { RevocationScope } from '../certificates/revocation-records.ts';
import { bulkPrefix, localPrefix, type MountScope, sharedPrefix } from '../mounts/mount-records.ts';

export interface StoredCrl {
  readonly number: number;
  readonly thisUpdateMs: number;
  readonly nextUpdateMs: number;
  readonly partCount: number;
  /** When it became current. */
  readonly storedAtMs: number;
}

export interface CrlRecord {
  readonly complete: StoredCrl;
  /** Adds to `complete`; undefined where delta lists are not made. */
  readonly delta?: StoredCrl | undefined;
  /** Number of the last build: lists of both kinds share one sequence, which only grows. */
  readonly lastNumber: number;
}

/** Current lists by group of issuers. */
export const crlRecords = (
  mount: MountScope,
  scope: RevocationScope = 'own',
): RecordCollection<CrlRecord> =>
  jsonRecords(
    scope === 'own' ? `${localPrefix(mount)}crls/` : `${sharedPrefix(mount)}unified-crls/`,
  );

/** Written in a few milliseconds. */
const PART_BYTES = 512 * 1024;

export type CrlKind = 'complete' | 'delta';

/** A list among those of a mount. */
export interface CrlPlace {
  readonly mount: MountScope;
  readonly scope: RevocationScope;
  readonly groupId: string;
  readonly kind: CrlKind;
}

const partsPrefix = ({ mount, scope, groupId, kind }: CrlPlace, number: number): string =>
  `${bulkPrefix(scope === 'own' ? 'crlParts' : 'unifiedCrlParts', mount)}${groupId}/${kind}-${number}/`;

/** Writes the bytes of a CRL, with a commit for each part; returns the number of parts. */
export const writeCrlParts = async (
  store: Store,
  place: CrlPlace,
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
  place: CrlPlace,
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
  place: CrlPlace,
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
