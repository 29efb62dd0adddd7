/**
 * Runs tidying in the background, one run of a mount at a time in the whole cluster: a lease elects the
 * process and fences every commit, and a record shows all replicas the progress of the run.
 */

import { setImmediate } from 'node:timers/promises';
import { pause } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import type { HeldLease, LeaseStore } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import { type Transaction, takeFence } from '@keelson/storage';
import { mountLeases } from '../mounts/mount-records.ts';
import type { TidySettings } from './domain/tidy-settings.ts';
import { type TidyParts, tidyMount } from './tidy-operations.ts';
import {
  NO_COUNTS,
  TIDY_STATUS,
  type TidyCounts,
  type TidyStatus,
  tidyStatusRecords,
} from './tidy-records.ts';

export interface TidyRunnerParts extends TidyParts {
  readonly leases: LeaseStore;
  readonly logger: Logger;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
}

export interface TidyRunner {
  /** Starts a run; false when one is in progress. */
  start(mount: MountScope, settings: TidySettings, kind: 'manual' | 'automatic'): Promise<boolean>;
  /** Asks the current run to end; false when there is none. */
  cancel(mount: MountScope): Promise<boolean>;
  /** The last run; undefined before the first. */
  status(mount: MountScope): Promise<TidyStatus | undefined>;
  /** Waits for the runs of this process to end, once `stopping` is aborted. */
  settled(): Promise<void>;
}

const LEASE_TTL_MS = 30_000;

class Cancelled extends Error {}

const leaseOf = mountLeases('tidy');

const isUnderWay = (status: TidyStatus | undefined): status is TidyStatus =>
  status?.state === 'Running' || status?.state === 'Cancelling';

const changeStatus = (
  { store }: TidyRunnerParts,
  mount: MountScope,
  change: (status: TidyStatus | undefined) => TidyStatus | undefined,
): Promise<void> =>
  store.transact(async (tx: Transaction) => {
    const records = tidyStatusRecords(mount);
    const changed = change(await records.find(tx, TIDY_STATUS));
    if (changed !== undefined) records.write(tx, TIDY_STATUS, changed);
  });

const addCounts = (counts: TidyCounts, done: Partial<TidyCounts>): TidyCounts => ({
  certificates: counts.certificates + (done.certificates ?? 0),
  revocations: counts.revocations + (done.revocations ?? 0),
  missingIssuers: counts.missingIssuers + (done.missingIssuers ?? 0),
  metadata: counts.metadata + (done.metadata ?? 0),
  clusterRevocations: counts.clusterRevocations + (done.clusterRevocations ?? 0),
  requests: counts.requests + (done.requests ?? 0),
  acmeAccounts: counts.acmeAccounts + (done.acmeAccounts ?? 0),
  acmeAccountsRevoked: counts.acmeAccountsRevoked + (done.acmeAccountsRevoked ?? 0),
  acmeAccountsDeleted: counts.acmeAccountsDeleted + (done.acmeAccountsDeleted ?? 0),
  acmeOrders: counts.acmeOrders + (done.acmeOrders ?? 0),
});

const advance = async (
  parts: TidyRunnerParts,
  mount: MountScope,
  lease: HeldLease,
  done: Partial<TidyCounts>,
): Promise<void> => {
  const end = AbortSignal.any([parts.stopping, lease.lost]);
  let isCancelled = false;
  let pauseMs = 0;
  await changeStatus(parts, mount, (status) => {
    if (status === undefined) return undefined;
    isCancelled = status.state === 'Cancelling';
    pauseMs = status.settings.pauseMs;
    return { ...status, counts: addCounts(status.counts, done) };
  });
  if (!isCancelled && pauseMs > 0) await pause(parts.clock, pauseMs, end);
  // Pending events are handled between two steps.
  await setImmediate();
  if (isCancelled || end.aborted) throw new Cancelled();
};

const run = async (
  parts: TidyRunnerParts,
  mount: MountScope,
  settings: TidySettings,
  lease: HeldLease,
): Promise<Pick<TidyStatus, 'state' | 'error' | 'message'>> => {
  try {
    await tidyMount(parts, {
      mount,
      settings,
      fence: await takeFence(parts.store, lease.name),
      advance: (done) => advance(parts, mount, lease, done),
    });
    return { state: 'Finished', message: 'Tidying finished' };
  } catch (error) {
    if (error instanceof Cancelled) return { state: 'Cancelled', message: 'Tidying was cancelled' };
    parts.logger.error({ err: error, mount: mount.uuid }, 'tidying failed');
    return { state: 'Error', message: 'Tidying failed', error: String(error) };
  }
};

export const createTidyRunner = (parts: TidyRunnerParts): TidyRunner => {
  const { store, leases, clock } = parts;
  const running = new Map<string, Promise<void>>();
  const find = (mount: MountScope) => tidyStatusRecords(mount).find(store, TIDY_STATUS);

  const runToEnd = async (
    mount: MountScope,
    settings: TidySettings,
    lease: HeldLease,
    isAutomatic: boolean,
  ): Promise<void> => {
    try {
      const outcome = await run(parts, mount, settings, lease);
      const finishedAtMs = clock.nowMs();
      await changeStatus(
        parts,
        mount,
        (status) =>
          status && {
            ...status,
            ...outcome,
            finishedAtMs,
            ...(isAutomatic && { lastAutoFinishedAtMs: finishedAtMs }),
          },
      );
    } catch (error) {
      parts.logger.error({ err: error, mount: mount.uuid }, 'the end of tidying was not recorded');
    } finally {
      await lease.release();
      running.delete(mount.uuid);
    }
  };

  /** Marks a run as ended if its process has ended. */
  const settleAbandoned = async (mount: MountScope): Promise<void> => {
    if (running.has(mount.uuid) || !isUnderWay(await find(mount))) return;
    const lease = await leases.tryAcquire(leaseOf(mount), { ttlMs: LEASE_TTL_MS });
    if (lease === undefined) return;
    const finishedAtMs = clock.nowMs();
    await changeStatus(parts, mount, (status) =>
      isUnderWay(status)
        ? { ...status, state: 'Error', error: 'the process that tidied ended', finishedAtMs }
        : undefined,
    );
    await lease.release();
  };

  return {
    start: async (mount, settings, kind) => {
      const lease = await leases.tryAcquire(leaseOf(mount), { ttlMs: LEASE_TTL_MS });
      if (lease === undefined) return false;
      const startedAtMs = clock.nowMs();
      try {
        await changeStatus(parts, mount, (status) => ({
          state: 'Running',
          message: 'Tidying',
          startedAtMs,
          lastAutoFinishedAtMs: status?.lastAutoFinishedAtMs,
          settings,
          counts: NO_COUNTS,
        }));
      } catch (error) {
        await lease.release();
        throw error;
      }
      running.set(mount.uuid, runToEnd(mount, settings, lease, kind === 'automatic'));
      return true;
    },
    cancel: async (mount) => {
      await settleAbandoned(mount);
      let isCancelling = false;
      await changeStatus(parts, mount, (status) => {
        isCancelling = isUnderWay(status);
        return isUnderWay(status) ? { ...status, state: 'Cancelling' } : undefined;
      });
      return isCancelling;
    },
    status: async (mount) => {
      await settleAbandoned(mount);
      return find(mount);
    },
    settled: async () => {
      await Promise.all(running.values());
    },
  };
};
