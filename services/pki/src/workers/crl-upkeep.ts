/** Renews revocation lists before they expire, in one replica at a time. */
import { type Clock, pause } from '@keelson/clock';
import type { LeaseStore } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { Store } from '@keelson/storage';
import type { CrlBuilder } from '../crl/crl-builder.ts';
import { crlRecords, pendingRecords } from '../crl/crl-records.ts';
import { deltaDueAtMs, rebuildDueAtMs } from '../crl/domain/crl-config.ts';
import { crlGroups, crlSignerOf } from '../crl/domain/crl-group.ts';
import type { Authorities } from '../issuers/issuer-records.ts';
import type { MountScope } from '../mounts/mount-records.ts';

const LEASE = 'pki/crl-upkeep';
const LEASE_TTL_MS = 30_000;
const TICK_MS = 60_000;

export interface CrlUpkeep {
  readonly store: Store;
  readonly authorities: Authorities;
  readonly crlBuilder: CrlBuilder;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Mounts as of now; none while sealed. */
  readonly mounts: () => readonly MountScope[];
}

type Due = 'complete' | 'delta' | undefined;

/** What of the mount's lists is to be made again now. */
const findDue = async (
  { store, authorities, clock }: CrlUpkeep,
  mount: MountScope,
): Promise<Due> => {
  const authority = await authorities.of(mount);
  const { crl: config } = authority.settings;
  const nowMs = clock.nowMs();
  // Left by a request that could not have the lease.
  if (!config.autoRebuild && (await pendingRecords(mount).keys(store, { limit: 1 })).length > 0)
    return 'complete';
  let due: Due;
  for (const group of crlGroups(authority)) {
    if (crlSignerOf(group, authority) === undefined) continue;
    const record = await crlRecords(mount).find(store, group.id);
    if (record === undefined || rebuildDueAtMs(config, record.complete.nextUpdateMs) <= nowMs)
      return 'complete';
    if (config.enableDelta && deltaDueAtMs(config, record.delta?.thisUpdateMs ?? 0) <= nowMs)
      due = 'delta';
  }
  return due;
};

/** Renews what is due now. A mount whose lists cannot be made does not keep the others from theirs. */
export const renewDueCrls = async (upkeep: CrlUpkeep): Promise<void> => {
  const { crlBuilder, logger } = upkeep;
  for (const mount of upkeep.mounts())
    try {
      const due = await findDue(upkeep, mount);
      if (due === 'complete') await crlBuilder.rebuild(mount);
      if (due === 'delta') await crlBuilder.rebuildDeltas(mount);
    } catch (error) {
      logger.error({ err: error, mount: mount.uuid }, 'revocation lists were not renewed');
    }
};

/** Runs until `signal` aborts. */
export const runCrlUpkeep = async (upkeep: CrlUpkeep, signal: AbortSignal): Promise<void> => {
  const { leases, clock } = upkeep;
  while (!signal.aborted) {
    const held = await leases.acquire(LEASE, { ttlMs: LEASE_TTL_MS }, signal);
    const stop = AbortSignal.any([signal, held.lost]);
    try {
      while (!stop.aborted) {
        await renewDueCrls(upkeep);
        await pause(clock, TICK_MS, stop);
      }
    } finally {
      await held.release();
    }
  }
};
