/** Whether there is room for another lease: quotas count the secrets with a lease and the service tokens at their places. */
import { KeelsonError } from '@keelson/errors';
import { collection, type Store, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';
import { mountPathOf } from '../mounts/domain/mount.ts';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { contains, type NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import type { LeaseQuota } from '../quotas/domain/lease-quota.ts';
import type { PlacedQuotas } from '../quotas/domain/placed-quotas.ts';
import { countTokensAt, countTokensOf } from '../tokens/token-records.ts';
import { countLeasesBelow } from './lease-records.ts';

/** Keys: "<namespace id>/<name of the quota>". Whoever makes a token takes a turn, so that no two find the same room. */
const turns = collection('lease-quota-turns', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: Type.Object({ turn: Type.Number() }),
  owner: OF_NAMESPACE,
});

export interface LeaseRoomContext {
  readonly store: Store;
  readonly mounts: () => Promise<MountIndex>;
  readonly namespaces: () => Promise<NamespaceTable>;
  readonly leaseQuotas: () => Promise<PlacedQuotas<LeaseQuota>>;
}

/** Where a lease is to be made. */
export interface LeasePlace {
  readonly namespaceId: string;
  readonly mountUuid: string | undefined;
  /** Path of the request below the mount. */
  readonly below: string;
  /** Role of the login that makes a token; absent if it has none. */
  readonly role?: string | undefined;
  /** Path of the request, for the refusal. */
  readonly path: string;
}

/** Leases that a quota counts, at most one more than it allows. */
export const countLeasesOf = async (
  { store, mounts, namespaces }: LeaseRoomContext,
  { namespaceId, mountUuid, below, role, maxLeases, isInheritable }: LeaseQuota,
): Promise<number> => {
  const limit = maxLeases + 1;
  if (mountUuid !== undefined) {
    const mount = (await mounts()).findByUuid(mountUuid);
    if (mount === undefined) return 0;
    if (mount.table === 'auth') return countTokensAt(store, { mountUuid, role }, limit);
    const rest = below === '' || below.endsWith('*') ? below.replace(/\*$/, '') : `${below}/`;
    return countLeasesBelow(store, `${namespaceId}/${mountPathOf(mount)}${rest}`, limit);
  }
  const table = await namespaces();
  const own = table.findById(namespaceId);
  if (own === undefined) return 0;
  let count = 0;
  for (const namespace of table.all()) {
    const isOf = isInheritable ? contains(own, namespace) : namespace.id === namespaceId;
    if (!isOf || count >= limit) continue;
    count += await countLeasesBelow(store, `${namespace.id}/`, limit - count);
    count += await countTokensOf(store, namespace.id, limit - count);
  }
  return count;
};

const findFor = async (
  { namespaces, leaseQuotas }: LeaseRoomContext,
  { namespaceId, mountUuid, below, role }: LeasePlace,
): Promise<LeaseQuota | undefined> => {
  const quotas = await leaseQuotas();
  if (quotas.isEmpty) return undefined;
  const table = await namespaces();
  const namespace = table.findById(namespaceId);
  const lineage = namespace === undefined ? [] : table.lineageOf(namespace).map(({ id }) => id);
  return quotas.find({ lineage, mountUuid, below, role });
};

const requireBelow = async (
  context: LeaseRoomContext,
  quota: LeaseQuota,
  path: string,
): Promise<void> => {
  if ((await countLeasesOf(context, quota)) >= quota.maxLeases)
    throw new KeelsonError('request.lease_quota_exceeded', { path });
};

/** @throws KeelsonError `request.lease_quota_exceeded` when there are as many leases as the quota of the place allows */
export const requireLeaseRoom = async (
  context: LeaseRoomContext,
  place: LeasePlace,
): Promise<void> => {
  const quota = await findFor(context, place);
  if (quota !== undefined) await requireBelow(context, quota, place.path);
};

/**
 * Part of the transaction that stores a token, which runs again if another one was stored meanwhile.
 * @throws KeelsonError `request.lease_quota_exceeded`
 */
export const acquireLeaseRoom = async (
  context: LeaseRoomContext,
  tx: Transaction,
  place: LeasePlace,
): Promise<void> => {
  const quota = await findFor(context, place);
  if (quota === undefined) return;
  const key = [quota.namespaceId, quota.name];
  const turn = (await turns.find(tx, ...key))?.turn ?? 0;
  await requireBelow(context, quota, place.path);
  turns.write(tx, key, { turn: turn + 1 });
};
