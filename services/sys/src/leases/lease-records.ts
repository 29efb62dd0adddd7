/**
 * Where leases are kept: by id, by the time they fall due, and by token. A whole group (of a token, of a
 * mount) is ended by one small record that a worker resolves in portions, so that the transaction which
 * removes the token or the mount stays small however many leases hang on it.
 */
import { randomUUID } from 'node:crypto';
import { jsonRecords, type Reads, type Transaction } from '@keelson/storage';
import type { LeaseRecord } from './domain/lease.ts';

type Token = LeaseRecord['token'];
type Mark = Record<string, never>;

/** Keys: "<namespace id>/<lease id>". */
const leases = jsonRecords<LeaseRecord>('local/leases/');
/** Keys: "<due, epoch ms, 15 digits>/<namespace id>/<lease id>". */
const dues = jsonRecords<Mark>('local/lease-due/');
/** Keys: "<token's namespace id>/<token's hash>/<namespace id>/<lease id>". */
const byToken = jsonRecords<Mark>('local/lease-by-token/');

/** Keys: as of leases. Those the worker has given up. */
const givenUp = jsonRecords<Mark>('local/lease-irrevocable/');

export type LeaseGroup =
  | { readonly kind: 'irrevocable'; readonly namespaceId: string }
  | { readonly kind: 'token'; readonly token: Token }
  | { readonly kind: 'prefix'; readonly namespaceId: string; readonly prefix: string }
  /** Of a mount while it was at this place. */
  | ({ readonly kind: 'mount'; readonly mountUuid: string } & MountPlace);

export interface MountPlace {
  readonly namespaceId: string;
  readonly path: string;
}

/** Where the mounts are that were given leases. Keys: "<mount uuid>". */
const leasedMounts = jsonRecords<MountPlace>('local/mounts-with-leases/');

/** Groups to end. Keys: random. */
const endings = jsonRecords<LeaseGroup>('local/lease-endings/');

/** Prefixes of the leases of one namespace; they are emptied when it is deleted. */
export const namespaceLeasePrefixes = (namespaceId: string): readonly string[] => [
  leases.path(`${namespaceId}/`),
  givenUp.path(`${namespaceId}/`),
  byToken.path(`${namespaceId}/`),
];

const keyOf = ({ namespaceId, id }: { readonly namespaceId: string; readonly id: string }) =>
  `${namespaceId}/${id}`;
const tokenKeyOf = (token: Token): string => `${token.namespaceId}/${token.hash}/`;
const dueKeyOf = (lease: LeaseRecord): string | undefined =>
  lease.dueAtMs === undefined
    ? undefined
    : `${String(Math.ceil(lease.dueAtMs)).padStart(15, '0')}/${keyOf(lease)}`;

/** An id comes from a client and becomes part of a path. */
const LEASE_ID = /^(?!\/)(?!.*\/\/)[^\p{Cc}]{1,700}(?<!\/)$/u;

export const findLease = async (
  reads: Reads,
  namespaceId: string,
  id: string,
): Promise<LeaseRecord | undefined> =>
  LEASE_ID.test(id) ? leases.find(reads, keyOf({ namespaceId, id })) : undefined;

/** Part of the transaction that writes a lease of a mount. Leases of a place where it was before end. */
export const noteLeasedMount = async (
  tx: Transaction,
  uuid: string,
  { namespaceId, path }: MountPlace,
): Promise<void> => {
  const known = await leasedMounts.find(tx, uuid);
  if (known?.path === path && known.namespaceId === namespaceId) return;
  if (known !== undefined) orderEnding(tx, { kind: 'mount', mountUuid: uuid, ...known });
  leasedMounts.write(tx, uuid, { namespaceId, path });
};

/** By the uuid of the mount. */
export const listLeasedMounts = (
  reads: Reads,
): Promise<readonly (readonly [string, MountPlace])[]> => leasedMounts.entries(reads);

/** Orders the end of the leases of a mount that is not at this place any more, and forgets the place. */
export const orderEndingOfMount = async (
  tx: Transaction,
  uuid: string,
  place: MountPlace,
): Promise<void> => {
  const known = await leasedMounts.find(tx, uuid);
  if (known?.path !== place.path || known.namespaceId !== place.namespaceId) return;
  orderEnding(tx, { kind: 'mount', mountUuid: uuid, ...place });
  leasedMounts.delete(tx, uuid);
};

/** Namespaces in which leases are kept. */
export const listLeaseNamespaces = async (reads: Reads): Promise<readonly string[]> =>
  (await leases.keys(reads)).map((name) => name.replace(/\/$/, ''));

/** Writes a lease with its indexes; `before` is what it replaces. */
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

/** Names directly below a prefix of lease ids. */
export const listLeaseNames = (
  reads: Reads,
  namespaceId: string,
  prefix: string,
): Promise<readonly string[]> => reads.list(leases.path(`${namespaceId}/${prefix}`));

export interface DueLease {
  readonly dueAtMs: number;
  /** Of the index entry. */
  readonly key: string;
  readonly namespaceId: string;
  readonly id: string;
}

/** The leases that fall due next, soonest first. */
export const listNextDue = async (reads: Reads, limit: number): Promise<readonly DueLease[]> =>
  (await dues.entries(reads, { limit })).map(([key]) => {
    const [due = '', namespaceId = ''] = key.split('/', 2);
    return {
      dueAtMs: Number(due),
      key,
      namespaceId,
      id: key.slice(due.length + namespaceId.length + 2),
    };
  });

/** An entry whose lease went with a deleted namespace. */
export const forgetDue = (tx: Transaction, key: string): void => dues.delete(tx, key);

/** Orders the end of all leases of a group; part of the transaction that ends their token or mount. */
export const orderEnding = (tx: Transaction, group: LeaseGroup): void =>
  endings.write(tx, randomUUID(), group);

/** Orders the end of a token's leases, when it has any. */
export const endLeasesOfToken = async (tx: Transaction, token: Token): Promise<void> => {
  const some = await tx.list(byToken.path(tokenKeyOf(token)), { limit: 1 });
  if (some.length > 0)
    orderEnding(tx, {
      kind: 'token',
      token: { namespaceId: token.namespaceId, hash: token.hash },
    });
};

export const listEndings = (
  reads: Reads,
  limit: number,
): Promise<readonly (readonly [string, LeaseGroup])[]> => endings.entries(reads, { limit });

export const finishEnding = (tx: Transaction, key: string): void => endings.delete(tx, key);

export interface LeasePage {
  readonly leases: readonly LeaseRecord[];
  /** Where the next page begins; undefined after the last. */
  readonly next: string | undefined;
}

/** Leases of a group in portions. Entries whose lease is gone are passed over. */
export const pageOfGroup = async (
  reads: Reads,
  group: LeaseGroup,
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
): Promise<LeasePage> => {
  const options = after === undefined ? { limit } : { limit, after };
  const toPage = (
    keys: readonly string[],
    found: readonly (LeaseRecord | undefined)[],
  ): LeasePage => ({
    leases: found.filter((lease) => lease !== undefined),
    next: keys.length < limit ? undefined : keys.at(-1),
  });
  if (group.kind === 'prefix' || group.kind === 'mount') {
    const prefix = group.kind === 'mount' ? group.path : group.prefix;
    const path = leases.path(`${group.namespaceId}/${prefix}`);
    const entries = await jsonRecords<LeaseRecord>(path).entries(reads, options);
    const isOf = ({ mountUuid }: LeaseRecord): boolean =>
      group.kind === 'prefix' || mountUuid === group.mountUuid;
    return toPage(
      entries.map(([key]) => key),
      entries.map(([, lease]) => (isOf(lease) ? lease : undefined)),
    );
  }
  const [marks, below] =
    group.kind === 'token'
      ? [jsonRecords<Mark>(byToken.path(tokenKeyOf(group.token))), '']
      : [jsonRecords<Mark>(givenUp.path(`${group.namespaceId}/`)), `${group.namespaceId}/`];
  const keys = (await marks.entries(reads, options)).map(([key]) => key);
  return toPage(keys, await Promise.all(keys.map((key) => leases.find(reads, below + key))));
};
