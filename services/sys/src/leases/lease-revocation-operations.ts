/** Revokes leases immediately, as a group, or when they are due. */
import { KeelsonError } from '@keelson/errors';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import { type TransactOptions, unlessDamaged } from '@keelson/storage';
import pLimit from 'p-limit';
import { afterFailedRevocation, endedLease, type LeaseRecord } from './domain/lease.ts';
import { withSlash } from './domain/lease-prefix.ts';
import type { LeaseContext } from './lease-context.ts';
import {
  type DueLease,
  deleteLease,
  findEnding,
  findLease,
  finishEnding,
  isDamagedLease,
  type LeaseGroup,
  type LeasePage,
  leasePages,
  listNextDue,
  orderEnding,
  pruneDue,
  writeLease,
} from './lease-records.ts';

/** Due leases handled in one round. */
const PORTION = 200;
/** Concurrent calls to engines. */
const PARALLEL_REVOCATIONS = 8;

/** The mount of a lease as its engine needs it, for a mount that no longer exists. */
const removedMount = ({ mountUuid, mountType }: LeaseRecord): Mount => ({
  uuid: mountUuid,
  accessor: '',
  type: mountType,
  path: '',
  namespace: undefined,
  local: false,
  defaultLeaseTtlSeconds: 0,
  maxLeaseTtlSeconds: 0,
  passthroughRequestHeaders: [],
  allowedResponseHeaders: [],
  options: {},
  description: '',
  userLockout: undefined,
});

const revokeAtEngine = async (
  { engineTypes, engines, findMount }: LeaseContext,
  lease: LeaseRecord,
): Promise<void> => {
  const service = (await engineTypes()).get(lease.mountType)?.service ?? '';
  const engine = engines.get(service);
  if (engine === undefined)
    throw new KeelsonError('edge.backend_unavailable', { service: service || lease.mountType });
  await engine.revokeLease({
    mount: (await findMount(lease.mountUuid)) ?? removedMount(lease),
    leaseId: lease.id,
    engineData: Buffer.from(lease.engineDataBase64, 'base64'),
  });
};

/**
 * Lets the engine revoke one secret. The lease is deleted then, or due again.
 * @returns why the engine did not; undefined if it did
 * @throws KeelsonError of the store
 */
const attemptRevocation = async (
  context: LeaseContext,
  lease: LeaseRecord,
  options: TransactOptions,
): Promise<KeelsonError | undefined> => {
  const failure = await revokeAtEngine(context, lease).then(
    () => undefined,
    (error: unknown) => KeelsonError.from(error),
  );
  await context.store.transact(async (tx) => {
    const current = await findLease(tx, lease.namespaceId, lease.id);
    if (current === undefined) return;
    if (failure === undefined) await deleteLease(tx, current);
    else {
      const nowMs = context.clock.nowMs();
      await writeLease(tx, afterFailedRevocation(current, failure.message, nowMs));
    }
  }, options);
  return failure;
};

/** @throws KeelsonError of the engine */
const revokeOne = async (context: LeaseContext, lease: LeaseRecord): Promise<void> => {
  const failure = await attemptRevocation(context, lease, {});
  if (failure !== undefined) throw failure;
};

/** Revokes the leases; those whose engine fails are retried later. A failure of the store ends the round. */
const revokeAll = async (
  context: LeaseContext,
  group: readonly LeaseRecord[],
  options: TransactOptions,
): Promise<void> => {
  const limit = pLimit(PARALLEL_REVOCATIONS);
  await limit.map(group, (lease) => unlessDamaged(attemptRevocation(context, lease, options)));
};

const forget = (
  { store }: LeaseContext,
  namespaceId: string,
  { leases, damagedIds }: Pick<LeasePage, 'leases' | 'damagedIds'>,
): Promise<void> =>
  store.transact(async (tx) => {
    for (const { id } of leases) {
      const left = await findLease(tx, namespaceId, id);
      if (left !== undefined) await deleteLease(tx, left);
    }
    for (const id of damagedIds)
      if (await isDamagedLease(tx, namespaceId, id)) await deleteLease(tx, { namespaceId, id });
  });

const endGroup = async (
  context: LeaseContext,
  group: LeaseGroup,
  options: TransactOptions,
): Promise<void> => {
  for await (const { leases } of leasePages(context.store, group))
    await context.store.transact(async (tx) => {
      const nowMs = context.clock.nowMs();
      for (const { namespaceId, id } of leases) {
        const lease = await findLease(tx, namespaceId, id);
        if (lease !== undefined && lease.expiresAtMs > nowMs)
          await writeLease(tx, endedLease(lease, nowMs));
      }
    }, options);
};

/** Succeeds for an unknown id. `sync`: resolves after the engine has revoked the secret. */
export const revokeLease = async (
  context: LeaseContext,
  namespaceId: string,
  id: string,
  sync: boolean,
): Promise<void> => {
  const ended = await context.store.transact(async (tx) => {
    const lease = await findLease(tx, namespaceId, id);
    if (lease === undefined) return undefined;
    const result = endedLease(lease, context.clock.nowMs());
    await writeLease(tx, result);
    return result;
  });
  if (ended === undefined) return;
  if (sync) await revokeOne(context, ended);
  else context.onEnd();
};

/** @throws KeelsonError with the path of a lease that cannot be read, after all others were revoked, if `sync` */
export const revokeLeasesBelow = async (
  context: LeaseContext,
  namespaceId: string,
  prefix: string,
  sync: boolean,
): Promise<void> => {
  const group: LeaseGroup = { kind: 'prefix', namespaceId, prefix: withSlash(prefix) };
  if (!sync) {
    await context.store.transact((tx) => orderEnding(tx, group));
    context.onEnd();
    return;
  }
  const unread: string[] = [];
  for await (const { leases, damagedIds } of leasePages(context.store, group)) {
    for (const lease of leases) await revokeOne(context, lease);
    unread.push(...damagedIds);
  }
  for (const id of unread) await findLease(context.store, namespaceId, id);
};

/** Removes the leases even when the engine refuses to revoke the secrets, and those that cannot be read. */
export const forgetLeasesBelow = async (
  context: LeaseContext,
  namespaceId: string,
  prefix: string,
): Promise<void> => {
  for await (const page of leasePages(context.store, {
    kind: 'prefix',
    namespaceId,
    prefix: withSlash(prefix),
  })) {
    await revokeAll(context, page.leases, {});
    await forget(context, namespaceId, page);
  }
};

/**
 * Ends all leases of a namespace that is being removed. Damaged leases are given up, as no engine can
 * revoke their secrets; the store has logged their paths.
 * @returns false while some revocations must be retried, which `revokeDueLeases` does
 */
export const endLeasesOfNamespace = async (
  context: LeaseContext,
  namespaceId: string,
): Promise<boolean> => {
  const all: LeaseGroup = { kind: 'prefix', namespaceId, prefix: '' };
  await endGroup(context, all, {});
  const nowMs = context.clock.nowMs();
  for await (const { leases } of leasePages(context.store, all)) {
    const due = leases.filter(({ dueAtMs }) => dueAtMs !== undefined && dueAtMs <= nowMs);
    await revokeAll(context, due, {});
  }
  let isOver = true;
  for await (const page of leasePages(context.store, all)) {
    isOver &&= page.leases.every(({ irrevocable }) => irrevocable !== undefined);
    if (isOver) await forget(context, namespaceId, page);
  }
  return isOver;
};

interface DuePortion {
  readonly leases: readonly LeaseRecord[];
  /** Rows whose lease is gone. */
  readonly gone: readonly DueLease[];
}

/** The next portion of due leases. Unreadable leases remain due, and do not count. */
const findDue = async ({ store, clock }: LeaseContext): Promise<DuePortion> => {
  const nowMs = clock.nowMs();
  const leases: LeaseRecord[] = [];
  const gone: DueLease[] = [];
  const examine = async (due: DueLease): Promise<void> => {
    const lease = await findLease(store, due.namespaceId, due.id);
    if (lease === undefined) gone.push(due);
    else leases.push(lease);
  };
  for (let after: string | undefined; ; ) {
    const listed = await listNextDue(store, { limit: PORTION, after });
    const due = listed.filter(({ dueAtMs }) => dueAtMs <= nowMs);
    await Promise.all(due.map((one) => unlessDamaged(examine(one))));
    if (due.length < PORTION || leases.length + gone.length > 0) return { leases, gone };
    after = due.at(-1)?.position;
  }
};

/** Handles one portion of the due leases; true when more may be due. */
export const revokeDueLeases = async (
  context: LeaseContext,
  options: TransactOptions,
): Promise<boolean> => {
  const ending = await findEnding(context.store);
  if (ending !== undefined) {
    const [key, group] = ending;
    await endGroup(context, group, options);
    await context.store.transact((tx) => finishEnding(tx, key), options);
    return true;
  }
  const { leases, gone } = await findDue(context);
  if (gone.length > 0)
    await context.store.transact(async (tx) => {
      for (const due of gone) await pruneDue(tx, due);
    }, options);
  await revokeAll(context, leases, options);
  return leases.length + gone.length > 0;
};
