/**
 * Records of leases, and their indexes by due time and by token. A whole group (of a token or of a mount) is ended by
 * one small record that a worker resolves in portions, so that the transaction that removes the token or
 * the mount stays small however many leases depend on it.
 */

import { randomUUID } from 'node:crypto';
import { hasCode } from '@keelson/errors';
import {
  collection,
  countRecords,
  type Reads,
  type Store,
  type Transaction,
  unlessDamaged,
} from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import { type LeaseRecord, leaseRecordShape } from './domain/lease.ts';

const tokenShape = leaseRecordShape.properties.token;
type Token = Shaped<typeof tokenShape>;
const dueDigits = (dueAtMs: number): string => String(Math.ceil(dueAtMs)).padStart(15, '0');

/** Keys: "<namespace id>/<lease id>". */
const leases = collection('leases', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: leaseRecordShape,
  owner: OF_NAMESPACE,
  index: [
    {
      name: 'due',
      values: ({ dueAtMs }) => (dueAtMs === undefined ? [] : [dueDigits(dueAtMs)]),
      rows: 'lease-due',
    },
    {
      name: 'token',
      values: ({ token }) => [[token.namespaceId, token.hash]],
      rows: 'lease-by-token',
    },
    {
      // Leases whose revocation was abandoned.
      name: 'irrevocable',
      values: ({ irrevocable }) => (irrevocable === undefined ? [] : [[]]),
      rows: 'lease-irrevocable',
    },
  ],
});

export const mountPlaceShape = Type.Object({ namespaceId: Type.String(), path: Type.String() });
export type MountLocation = Shaped<typeof mountPlaceShape>;

export const leaseGroupShape = Type.Union([
  Type.Object({ kind: Type.Literal('irrevocable'), namespaceId: Type.String() }),
  Type.Object({ kind: Type.Literal('token'), token: tokenShape }),
  Type.Object({ kind: Type.Literal('prefix'), namespaceId: Type.String(), prefix: Type.String() }),
  Type.Object({
    kind: Type.Literal('mount'),
    mountUuid: Type.String(),
    ...mountPlaceShape.properties,
  }),
]);
export type LeaseGroup = Shaped<typeof leaseGroupShape>;

/** Last known path of each mount with leases. Keys: "<mount uuid>". */
const leasedMounts = collection('mounts-with-leases', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: mountPlaceShape,
});

/** Groups of leases to end. Keys: random. */
const endings = collection('lease-endings', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: leaseGroupShape,
});

const keyOf = ({ namespaceId, id }: { readonly namespaceId: string; readonly id: string }) =>
  `${namespaceId}/${id}`;
/** An id comes from a client and becomes part of a path, so its characters and length are limited. */
const LEASE_ID = /^(?!\/)(?!.*\/\/)[^\p{Cc}]{1,700}(?<!\/)$/u;

export const findLease = async (
  reads: Reads,
  namespaceId: string,
  id: string,
): Promise<LeaseRecord | undefined> =>
  LEASE_ID.test(id) ? leases.find(reads, keyOf({ namespaceId, id })) : undefined;

/** Part of the transaction that writes a lease of a mount. Ends the leases of the mount's former place. */
export const recordLeasedMount = async (
  tx: Transaction,
  uuid: string,
  { namespaceId, path }: MountLocation,
): Promise<void> => {
  const known = await leasedMounts.find(tx, uuid);
  if (known?.path === path && known.namespaceId === namespaceId) return;
  if (known !== undefined) orderEnding(tx, { kind: 'mount', mountUuid: uuid, ...known });
  leasedMounts.write(tx, uuid, { namespaceId, path });
};

/** Last known places, by uuid of the mount. */
export const listLeasedMounts = (
  reads: Reads,
): Promise<readonly (readonly [string, MountLocation])[]> => leasedMounts.entries(reads);

/** Schedules the end of the leases of a mount that has left this place, and removes the place. */
export const orderEndingOfMount = async (
  tx: Transaction,
  uuid: string,
  place: MountLocation,
): Promise<void> => {
  const known = await leasedMounts.find(tx, uuid);
  if (known?.path !== place.path || known.namespaceId !== place.namespaceId) return;
  orderEnding(tx, { kind: 'mount', mountUuid: uuid, ...place });
  leasedMounts.delete(tx, uuid);
};

/** Numbers of leases in all namespaces, and of those whose revocation was abandoned; at most `limit`. */
export const countLeases = async (
  store: Store,
  limit: number,
): Promise<{ readonly all: number; readonly irrevocable: number }> => ({
  all: await countRecords(store, leases.prefix, limit),
  irrevocable: await countRecords(store, leases.by.irrevocable.prefix, limit),
});

/** Number of leases whose keys begin with a text; at most `limit`. @param beginning "<namespace id>/<path>" */
export const countLeasesBelow = (store: Store, beginning: string, limit: number): Promise<number> =>
  countRecords(store, leases.prefix + beginning, limit);

export const writeLease = (tx: Transaction, lease: LeaseRecord): Promise<void> =>
  leases.write(tx, keyOf(lease), lease);

/** Deletes a lease, also one that cannot be read. */
export const deleteLease = (
  tx: Transaction,
  lease: Pick<LeaseRecord, 'namespaceId' | 'id'>,
): Promise<void> => leases.delete(tx, keyOf(lease));

/**
 * Whether the record of a lease is damaged for every process, so that its engine cannot revoke the secret.
 * @throws KeelsonError the error of the read where another process may be able to read it
 */
export const isDamagedLease = async (
  reads: Reads,
  namespaceId: string,
  id: string,
): Promise<boolean> => {
  try {
    await findLease(reads, namespaceId, id);
    return false;
  } catch (error) {
    if (hasCode(error, 'barrier.damaged_value', 'storage.damaged_record')) return true;
    throw error;
  }
};

/** Names directly below a prefix of lease ids. */
export const listLeaseNames = (
  reads: Reads,
  namespaceId: string,
  prefix: string,
): Promise<readonly string[]> => reads.list(leases.path(`${namespaceId}/${prefix}`));

export interface DueLease {
  readonly dueAtMs: number;
  /** Position among the due leases. */
  readonly position: string;
  readonly namespaceId: string;
  readonly id: string;
}

interface PageOptions {
  readonly limit: number;
  readonly after?: string;
}

/** The leases that fall due next, soonest first. */
export const listNextDue = async (
  reads: Reads,
  { limit, after }: { readonly limit: number; readonly after: string | undefined },
): Promise<readonly DueLease[]> => {
  const options = { limit, ...(after !== undefined && { after }) };
  return (await leases.by.due.rests(reads, [], options)).map((position) => {
    const [due = '', namespaceId = ''] = position.split('/', 2);
    return {
      dueAtMs: Number(due),
      position,
      namespaceId,
      id: position.slice(due.length + namespaceId.length + 2),
    };
  });
};

/** Forgets when a lease was due that is gone: releases without this index left its row when they removed its namespace. */
export const pruneDue = (tx: Transaction, due: DueLease): Promise<void> =>
  leases.by.due.prune(tx, dueDigits(due.dueAtMs), keyOf(due));

/** Schedules the end of all leases of a group; part of the transaction that ends their token or mount. */
export const orderEnding = (tx: Transaction, group: LeaseGroup): void =>
  endings.write(tx, randomUUID(), group);

/** Schedules the end of a token's leases, if it has any. */
export const endLeasesOfToken = async (tx: Transaction, token: Token): Promise<void> => {
  const some = await leases.by.token.keys(tx, [token.namespaceId, token.hash], { limit: 1 });
  if (some.length > 0)
    orderEnding(tx, {
      kind: 'token',
      token: { namespaceId: token.namespaceId, hash: token.hash },
    });
};

/** The first group to end, with its key. One that cannot be read does not stop the others. */
export const findEnding = async (
  reads: Reads,
): Promise<readonly [string, LeaseGroup] | undefined> =>
  (await endings.readableEntries(reads, { limit: 1 })).entries[0];

export const finishEnding = (tx: Transaction, key: string): void => endings.delete(tx, key);

export interface LeasePage {
  readonly leases: readonly LeaseRecord[];
  /** Ids of leases that cannot be read; known where the group is a prefix of ids. */
  readonly damagedIds: readonly string[];
  /** Start of the next page; undefined after the last. */
  readonly next: string | undefined;
}

const isLease = (found: LeaseRecord | undefined): found is LeaseRecord => found !== undefined;

const nextAfter = (keys: readonly string[], { limit }: PageOptions): string | undefined =>
  keys.length < limit ? undefined : keys.at(-1);

const pageOfPlace = async (
  reads: Reads,
  group: Extract<LeaseGroup, { readonly kind: 'prefix' | 'mount' }>,
  options: PageOptions,
): Promise<LeasePage> => {
  const prefix = group.kind === 'mount' ? group.path : group.prefix;
  const below = `${group.namespaceId}/${prefix}`.replace(/\/$/, '');
  const { entries, damaged } = await leases.below(below).readableEntries(reads, options);
  const found = entries.map(([, lease]) => lease);
  const next = nextAfter(
    entries.map(([key]) => key),
    options,
  );
  return group.kind === 'mount'
    ? { leases: found.filter((one) => one.mountUuid === group.mountUuid), damagedIds: [], next }
    : { leases: found, damagedIds: damaged.map((key) => prefix + key), next };
};

const pageOfRows = async (
  reads: Reads,
  group: Extract<LeaseGroup, { readonly kind: 'token' | 'irrevocable' }>,
  options: PageOptions,
): Promise<LeasePage> => {
  const [index, below, first] =
    group.kind === 'token'
      ? [leases.by.token, [group.token.namespaceId, group.token.hash], '']
      : [leases.by.irrevocable, [group.namespaceId], `${group.namespaceId}/`];
  const rests = await index.rests(reads, below, options);
  const found = await Promise.all(
    rests.map((rest) => unlessDamaged(leases.find(reads, first + rest))),
  );
  return { leases: found.filter(isLease), damagedIds: [], next: nextAfter(rests, options) };
};

const PAGE_SIZE = 200;

/** All leases of a group that can be read, page by page. Entries whose lease is gone are skipped. */
export async function* leasePages(reads: Reads, group: LeaseGroup): AsyncGenerator<LeasePage> {
  let after: string | undefined;
  do {
    const options = { limit: PAGE_SIZE, ...(after !== undefined && { after }) };
    const page =
      group.kind === 'prefix' || group.kind === 'mount'
        ? await pageOfPlace(reads, group, options)
        : await pageOfRows(reads, group, options);
    yield page;
    after = page.next;
  } while (after !== undefined);
}
