/** Bans of compromised keys: made in one cluster, they hold in all clusters of the mount. */

import type { MountScope, ThisCluster } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Transaction } from '@keelson/storage';
import {
  type CompromisedKey,
  clusterBanRecords,
  findBan,
  fingerprintOf,
  liftedBanRecords,
  ownBanRecords,
} from '../keys/compromised-keys.ts';
import type { AnnouncingParts } from './announcing-operations.ts';
import { putForAll } from './outbox.ts';

/**
 * Bans the key of a certificate, unless it is banned. The caller carries the outbox after the commit.
 * @param ban made now
 */
export const banKey = async (
  tx: Transaction,
  mount: MountScope,
  { id }: ThisCluster,
  publicKeyDer: Uint8Array,
  ban: CompromisedKey,
): Promise<void> => {
  const fingerprint = fingerprintOf(publicKeyDer);
  if ((await findBan(tx, mount, fingerprint)) !== undefined) return;
  const lifted = await liftedBanRecords(mount).find(tx, fingerprint);
  // The clock of the cluster that lifted an earlier ban may have been ahead of this one.
  const bannedAtMs = Math.max(ban.bannedAtMs, (lifted?.liftedAtMs ?? 0) + 1);
  ownBanRecords(mount).write(tx, fingerprint, { ...ban, bannedAtMs });
  const place = `${fingerprint}/${id}`;
  putForAll(tx, mount, clusterBanRecords(mount), place, { ...ban, bannedAtMs });
};

/**
 * Lifts the ban of a key in all clusters; the revocation of its certificate stays.
 * @returns whether it is lifted here: not yet if this cluster cannot reach the primary
 * @throws KeelsonError `pki.key_not_found`
 */
export const liftBan = async (
  { store, clock, carry }: AnnouncingParts,
  mount: MountScope,
  fingerprint: string,
): Promise<boolean> => {
  await store.transact(async (tx) => {
    const ban = await findBan(tx, mount, fingerprint);
    if (ban === undefined) throw new KeelsonError('pki.key_not_found', { reference: fingerprint });
    const liftedAtMs = Math.max(clock.nowMs(), ban.bannedAtMs);
    putForAll(tx, mount, liftedBanRecords(mount), fingerprint, { liftedAtMs });
  });
  await carry(mount);
  return (await findBan(store, mount, fingerprint)) === undefined;
};
