/**
 * Records of leases, by id, by due time and by token. A whole group (of a token or of a mount) is ended by
 * one small record that a worker resolves in portions, so that the transaction that removes the token or
 * the mount stays small however many leases depend on it.
 */

import { randomUUID } from 'node:crypto';
import { hasCode } from '@keelson/errors';
import {
  collection,
  countRecords,
  type Reads,
  type RecordCollection,
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
const markShape = Type.Object({});

/** Keys: "<namespace id>/<lease id>". */
const leases = collection('leases', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: leaseRecordShape,
  owner: OF_NAMESPACE,
});
/** Keys: "<due, epoch ms, 15 digits>/<namespace id>/<lease id>". */
const dues = collection('lease-due', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: markShape,
});
/** Keys: "<token's namespace id>/<token's hash>/<namespace id>/<lease id>". */
const byToken = collection('lease-by-token', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: markShape,
  owner: OF_NAMESPACE,
});

/** Leases whose revocation was abandoned. Keys: like those of `leases`. */
const givenUp = collection('lease-irrevocable', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: markShape,
  owner: OF_NAMESPACE,
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
const tokenKeyOf = (token: Token): string => `${token.namespaceId}/${token.hash}/`;
const dueKeyOf = (lease: LeaseRecord): string | undefined =>
  lease.dueAtMs === undefined
    ? undefined
    : `${String(Math.ceil(lease.dueAtMs)).padStart(15, '0')}/${keyOf(lease)}`;

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
  irrevocable: await countRecords(store, givenUp.prefix, limit),
});

/** Writes a lease with its indexes; `before` is the version it replaces. */
export const writeLease = (
  tx: Transaction,
  lease: LeaseRecord,
  before: LeaseRecord | undefined,
): void => {
  const [oldDue, newDue] = [before && dueKeyOf(before), dueKeyOf(lease)];
  if (oldDue !== undefined && oldDue !== newDue) dues.delete(tx, oldDue);
  if (newDue !== undefined) dues.write(tx, newDue, {});
  if (lease.irrevocable !== undefined) givenUp.write(tx, keyOf(lease), {});
  else if (before?.irrevocable !== undefined) givenUp.delete(tx, keyOf(lease));
  if (before === undefined) byToken.write(tx, tokenKeyOf(lease.token) + keyOf(lease), {});
  leases.write(tx, keyOf(lease), lease);
};

export const deleteLease = (tx: Transaction, lease: LeaseRecord): void => {
  const due = dueKeyOf(lease);
  if (due !== undefined) dues.delete(tx, due);
  if (lease.irrevocable !== undefined) givenUp.delete(tx, keyOf(lease));
  byToken.delete(tx, tokenKeyOf(lease.token) + keyOf(lease));
  leases.delete(tx, keyOf(lease));
};

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

/** Entries of indexes that name the lease remain; they are skipped, and removed when they are due. */
export const deleteDamagedLease = (tx: Transaction, namespaceId: string, id: string): void => {
  givenUp.delete(tx, keyOf({ namespaceId, id }));
  leases.delete(tx, keyOf({ namespaceId, id }));
};

/** Names directly below a prefix of lease ids. */
export const listLeaseNames = (
  reads: Reads,
  namespaceId: string,
  prefix: string,
): Promise<readonly string[]> => reads.list(leases.path(`${namespaceId}/${prefix}`));

export interface DueLease {
  readonly dueAtMs: number;
  /** Key of the entry in the index of due leases. */
  readonly key: string;
  readonly namespaceId: string;
  readonly id: string;
}

interface PageOptions {
  readonly limit: number;
  readonly after?: string;
}

/** Keys of marks in their order, at least `limit` if there are as many. The key of a mark is all that it says. */
const markedKeys = async (
  marks: Pick<RecordCollection<unknown>, 'readableEntries'>,
  reads: Reads,
  options: PageOptions,
): Promise<readonly string[]> => {
  const { entries, damaged } = await marks.readableEntries(reads, options);
  return [...entries.map(([key]) => key), ...damaged].toSorted();
};

/** The leases that fall due next, soonest first. */
export const listNextDue = async (
  reads: Reads,
  { limit, after }: { readonly limit: number; readonly after: string | undefined },
): Promise<readonly DueLease[]> => {
  const options = { limit, ...(after !== undefined && { after }) };
  return (await markedKeys(dues, reads, options)).map((key) => {
    const [due = '', namespaceId = ''] = key.split('/', 2);
    return {
      dueAtMs: Number(due),
      key,
      namespaceId,
      id: key.slice(due.length + namespaceId.length + 2),
    };
  });
};

/** Removes the index entry of a lease that was deleted together with its namespace. */
export const forgetDue = (tx: Transaction, key: string): void => dues.delete(tx, key);

/** Schedules the end of all leases of a group; part of the transaction that ends their token or mount. */
export const orderEnding = (tx: Transaction, group: LeaseGroup): void =>
  endings.write(tx, randomUUID(), group);

/** Schedules the end of a token's leases, if it has any. */
export const endLeasesOfToken = async (tx: Transaction, token: Token): Promise<void> => {
  const some = await tx.list(byToken.path(tokenKeyOf(token)), { limit: 1 });
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

const pageOfMarks = async (
  reads: Reads,
  group: Extract<LeaseGroup, { readonly kind: 'token' | 'irrevocable' }>,
  options: PageOptions,
): Promise<LeasePage> => {
  const [marks, below] =
    group.kind === 'token'
      ? [byToken.below(group.token.namespaceId, group.token.hash), '']
      : [givenUp.below(group.namespaceId), `${group.namespaceId}/`];
  const keys = await markedKeys(marks, reads, options);
  const found = await Promise.all(
    keys.map((key) => unlessDamaged(leases.find(reads, below + key))),
  );
  return { leases: found.filter(isLease), damagedIds: [], next: nextAfter(keys, options) };
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
        : await pageOfMarks(reads, group, options);
    yield page;
    after = page.next;
  } while (after !== undefined);
}
