import { randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type {
  Lease,
  RegisterLeaseRequest,
  RequireRoomRequest,
} from '@keelson/proto/sys/v1/cluster';
import { findMountRecord } from '../mounts/mount-records.ts';
import { findStoredToken } from '../tokens/token-records.ts';
import { type LeaseRecord, renewedLease, ttlSeconds } from './domain/lease.ts';
import { withSlash } from './domain/lease-prefix.ts';
import type { LeaseContext, LeaseRegistryContext } from './lease-context.ts';
import {
  findLease,
  leasePages,
  listLeaseNames,
  recordLeasedMount,
  writeLease,
} from './lease-records.ts';
import { requireLeaseRoom } from './lease-room.ts';

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** A lease, and who has it: "" for a token that is gone, or of no entity. */
export interface FoundLease {
  readonly lease: LeaseRecord;
  readonly displayName: string;
  readonly entityId: string;
}

/** @throws KeelsonError `request.invalid` for an unknown id, like every other call that names one lease */
export const lookUpLease = async (
  { store }: LeaseContext,
  namespaceId: string,
  id: string,
): Promise<FoundLease> => {
  const lease = (await findLease(store, namespaceId, id)) ?? refuse('invalid lease');
  const token = await findStoredToken(store, lease.token);
  return { lease, displayName: token?.displayName ?? '', entityId: token?.entity?.id ?? '' };
};

export const listLeaseNamesBelow = (
  { store }: LeaseContext,
  namespaceId: string,
  prefix: string,
): Promise<readonly string[]> => listLeaseNames(store, namespaceId, withSlash(prefix));

export const renewLease = (
  { store, clock }: LeaseContext,
  namespaceId: string,
  id: string,
  incrementSeconds: number,
): Promise<LeaseRecord> =>
  store.transact(async (tx) => {
    const lease = (await findLease(tx, namespaceId, id)) ?? refuse('lease not found');
    const renewed = renewedLease(lease, incrementSeconds, clock.nowMs());
    await writeLease(tx, renewed);
    return renewed;
  });

/** The leases of a namespace that can be read. */
export async function* allLeases(
  context: LeaseContext,
  namespaceId: string,
): AsyncIterable<LeaseRecord> {
  for await (const page of leasePages(context.store, { kind: 'prefix', namespaceId, prefix: '' }))
    yield* page.leases;
}

/** Leases whose revocation was abandoned; the cost grows only with their number. */
export async function* irrevocableLeases(
  context: LeaseContext,
  namespaceId: string,
): AsyncIterable<LeaseRecord> {
  for await (const page of leasePages(context.store, { kind: 'irrevocable', namespaceId }))
    yield* page.leases;
}

const absent = (): never => {
  throw new KeelsonError('request.not_found', { text: 'no such mount' });
};

/**
 * Registers the lease of a secret that an engine issued.
 * @throws KeelsonError `request.not_found` when the mount is gone; `sys.permission_denied` when the token has ended
 */
export const registerLease = async (
  { store, clock, findMount }: LeaseRegistryContext,
  request: RegisterLeaseRequest,
): Promise<Lease> => {
  const mount = await findMount(request.mountUuid);
  if (mount === undefined) return absent();
  const token = { namespaceId: request.namespace?.id ?? 'root', hash: request.tokenHash };
  return store.transact(async (tx) => {
    // A mount removed at the same time would leave the lease behind.
    const record = await findMountRecord(tx, mount.namespace?.id ?? 'root', mount);
    if (record?.path !== mount.path) return absent();
    // A token that has already ended would never end this lease.
    if (request.tokenType !== 'batch' && (await findStoredToken(tx, token)) === undefined)
      throw new KeelsonError('sys.permission_denied');
    const nowMs = clock.nowMs();
    const latestSeconds = request.maxTtlSeconds || request.ttlSeconds;
    const expiresAtMs = nowMs + Math.min(request.ttlSeconds, latestSeconds) * 1000;
    const namespaceId = mount.namespace?.id ?? 'root';
    const suffix = namespaceId === 'root' ? '' : `.${namespaceId}`;
    const requestPath = withSlash(request.requestPath);
    const lease: LeaseRecord = {
      id: `${mount.path}${requestPath}${randomUUID()}${suffix}`,
      namespaceId,
      mountUuid: mount.uuid,
      mountType: mount.type,
      token,
      issuedAtMs: nowMs,
      expiresAtMs,
      latestExpiryMs: nowMs + latestSeconds * 1000,
      lastRenewalMs: undefined,
      renewable: request.renewable,
      engineDataBase64: Buffer.from(request.engineData).toString('base64'),
      failures: 0,
      dueAtMs: expiresAtMs,
      irrevocable: undefined,
    };
    await writeLease(tx, lease);
    await recordLeasedMount(tx, mount.uuid, { namespaceId, path: mount.path });
    return { leaseId: lease.id, ttlSeconds: ttlSeconds(lease, nowMs), renewable: lease.renewable };
  });
};

/**
 * Called before a secret with a lease is made. Requests at the same time may find the same room.
 * @throws KeelsonError `request.lease_quota_exceeded`; `request.not_found` when the mount is gone
 */
export const requireRoomFor = async (
  { findMount, room }: LeaseRegistryContext,
  { mountUuid, requestPath }: RequireRoomRequest,
): Promise<void> => {
  const mount = (await findMount(mountUuid)) ?? absent();
  const below = requestPath.replace(/^\//, '');
  await requireLeaseRoom(room, {
    namespaceId: mount.namespace?.id ?? 'root',
    mountUuid,
    below,
    path: `${mount.path}${below}`,
  });
};
