/** Renews revocation lists before they expire, in one replica at a time. */

import type { Clock } from '@keelson/clock';
import type { MountScope, ThisCluster } from '@keelson/engine';
import { hasCode } from '@keelson/errors';
import type { LeaseStore, Wakeup } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { RecordCollection, Store } from '@keelson/storage';
import { pendingRecords } from '../certificates/revocation-records.ts';
import { untilAnnounced } from '../clusters/announcements.ts';
import { announceRevocations } from '../clusters/announcing-operations.ts';
import { outboxPrefix } from '../clusters/outbox.ts';
import type { CrlBuilder } from '../crl/build/crl-builder.ts';
import { crlRecords } from '../crl/crl-records.ts';
import { crlGroups, crlSignerOf } from '../crl/domain/crl-group.ts';
import { isDeltaDue, isListDue } from '../crl-config/domain/crl-config.ts';
import type { Authorities } from '../issuers/issuer-records.ts';
import type { PkiCounters } from '../metrics/counters.ts';
import { fulfilRequests } from '../revocation/request-fulfilment.ts';

const LEASE = 'pki/crl-upkeep';
const LEASE_TTL_MS = 30_000;
const TICK_MS = 60_000;

export interface CrlUpkeep {
  readonly store: Store;
  readonly authorities: Authorities;
  readonly crlBuilder: CrlBuilder;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly cluster: () => ThisCluster;
  readonly carry: (mount: MountScope) => Promise<void>;
  /** Whether there are other clusters, which may announce revocations. */
  readonly isInSet: () => boolean;
  /** Rung when roles, seal or mounts of the cluster changed. */
  readonly wakeup: Wakeup;
  readonly logger: Logger;
  readonly counters: PkiCounters;
  /** Mounts as of now; none while sealed. */
  readonly mounts: () => readonly MountScope[];
}

type Due = 'complete' | 'delta' | undefined;

/** The lists of the mount that are due to be rebuilt. */
const findDue = async (upkeep: CrlUpkeep, mount: MountScope): Promise<Due> => {
  const { store, authorities, clock } = upkeep;
  const authority = await authorities.of(mount);
  const { crl: config } = authority.settings;
  const nowMs = clock.nowMs();
  // Left by a request that could not acquire the lease.
  const isLeft = async (records: RecordCollection<unknown>): Promise<boolean> =>
    (await records.keys(store, [], { limit: 1 })).length > 0;
  // Bans of keys and requests to other clusters do not wait for the lists.
  if ((await store.list(outboxPrefix(mount), { limit: 1 })).length > 0) await upkeep.carry(mount);
  if (!config.autoRebuild && (await isLeft(pendingRecords(mount)))) return 'complete';
  // The lists may have become unified by a change that replication brought.
  if (config.unifiedCrl) await announceRevocations(upkeep, mount);
  // Revocations of other clusters, received by replication.
  if (!upkeep.cluster().isSecondary && config.unifiedCrl && !config.autoRebuild)
    if (await isLeft(pendingRecords(mount, 'all'))) return 'complete';
  let due: Due;
  for (const group of crlGroups(authority)) {
    if (crlSignerOf(group, authority) === undefined) continue;
    const record = await crlRecords(mount).find(store, group.id);
    if (record === undefined || isListDue(config, record.complete, nowMs)) return 'complete';
    if (config.enableDelta && isDeltaDue(config, record.delta, nowMs)) due = 'delta';
  }
  return due;
};

/** Renews what is due now. A mount whose CRLs cannot be built does not prevent those of other mounts. */
export const renewDueCrls = async (upkeep: CrlUpkeep): Promise<void> => {
  const { crlBuilder, logger } = upkeep;
  for (const mount of upkeep.mounts())
    try {
      await fulfilRequests(upkeep, mount);
      const due = await findDue(upkeep, mount);
      if (due === 'complete') await crlBuilder.rebuild(mount);
      if (due === 'delta') await crlBuilder.rebuildDeltas(mount);
    } catch (error) {
      logger.error({ err: error, mount: mount.uuid }, 'revocation lists were not renewed');
    }
};

/** Whether the outbox still has records for the primary, which could not be reached yet. */
const hasLeft = async ({ store, cluster, mounts }: CrlUpkeep): Promise<boolean> => {
  if (!cluster().isSecondary) return false;
  for (const mount of mounts())
    if ((await store.list(outboxPrefix(mount), { limit: 1 })).length > 0) return true;
  return false;
};

/**
 * Waits until the next round is due: announcements and changes of this cluster are handled without waiting
 * for the clock.
 */
const untilDue = async (
  upkeep: CrlUpkeep,
  position: number,
  signal: AbortSignal,
): Promise<void> => {
  const { store, clock, isInSet, wakeup } = upkeep;
  const ending = new AbortController();
  const over = AbortSignal.any([signal, ending.signal]);
  const follow = async (): Promise<void> => {
    try {
      if (await untilAnnounced(store, position, over, await hasLeft(upkeep))) ending.abort();
    } catch (error) {
      // The next round makes up for what was missed. After any other error, the pause simply runs to its end.
      if (hasCode(error, 'storage.wal_pruned')) ending.abort();
    }
  };
  const following = isInSet() ? follow() : undefined;
  await wakeup.pause(clock, TICK_MS, over);
  ending.abort();
  await following;
};

/** Runs until `signal` aborts. */
export const runCrlUpkeep = async (upkeep: CrlUpkeep, signal: AbortSignal): Promise<void> => {
  const { leases } = upkeep;
  while (!signal.aborted) {
    const held = await leases.acquire(LEASE, { ttlMs: LEASE_TTL_MS }, signal);
    const stop = AbortSignal.any([signal, held.lost]);
    try {
      while (!stop.aborted) {
        // Read first, so that an announcement during the round causes another one.
        const position = await upkeep.store.wal.headSequence();
        await renewDueCrls(upkeep);
        await untilDue(upkeep, position, stop);
      }
    } finally {
      await held.release();
    }
  }
};
