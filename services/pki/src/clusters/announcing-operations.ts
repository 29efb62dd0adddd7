/** Announces the revocations of this cluster to the others. */

import type { Clock } from '@keelson/clock';
import type { MountScope, ThisCluster } from '@keelson/engine';
import type { Store } from '@keelson/storage';
import { revocationRecords } from '../certificates/revocation-records.ts';
import { loadCrlConfig } from '../crl-config/crl-config-records.ts';
import { ANNOUNCED, announcedRecords, announceRevocation } from './cluster-records.ts';

export interface AnnouncingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly cluster: () => ThisCluster;
  /** Copies the outbox to the replicated scope, or leaves it for later. */
  readonly carry: (mount: MountScope) => Promise<void>;
}

const PAGE_SIZE = 500;

/**
 * Announces certificates that were revoked before lists were unified. Repeating it changes nothing.
 * Certificates revoked from `unification` on are announced with their revocation, so none is missed in
 * between.
 */
const announceEarlier = async (
  { store, clock, cluster }: AnnouncingParts,
  mount: MountScope,
  unification: string | undefined,
): Promise<void> => {
  const records = revocationRecords(mount);
  let after: string | undefined;
  do {
    const page = await records.keys(store, [], {
      limit: PAGE_SIZE,
      ...(after !== undefined && { after }),
    });
    await store.transact(async (tx) => {
      for (const serialKey of page) {
        const revocation = await records.find(tx, serialKey);
        if (revocation !== undefined)
          announceRevocation(tx, mount, cluster(), serialKey, revocation);
      }
    });
    after = page.at(-1);
  } while (after !== undefined);
  const announced = { atMs: clock.nowMs(), unification };
  await store.transact((tx) => announcedRecords(mount).write(tx, ANNOUNCED, announced));
};

/** Announces the revocations that the other clusters do not know yet. */
export const announceRevocations = async (
  parts: AnnouncingParts,
  mount: MountScope,
): Promise<void> => {
  const { store } = parts;
  const config = await loadCrlConfig(store, mount);
  const announced = await announcedRecords(mount).find(store, ANNOUNCED);
  if (
    config.unifiedCrl &&
    (announced === undefined || announced.unification !== config.unification)
  )
    await announceEarlier(parts, mount, config.unification);
  await parts.carry(mount);
};
