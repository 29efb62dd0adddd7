/** Requests between clusters to revoke certificates, and their confirmations. */
import { type MountScope } from '@keelson/engine';
import { REVOCATION_REASON, type RevocationReason } from '@keelson/x509';
import type { Revoker } from '../certificates/domain/revoker.ts';
import type { AnnouncingParts } from './announcing-operations.ts';
import { confirmationRecords, type RevocationRequest, requestRecords } from './cluster-records.ts';
import { putForAll } from './outbox.ts';

/** Asks all clusters; asked again, the first request remains, unless a compromise was found since. */
export const requestRevocation = async (
  { store, clock, cluster, carry }: AnnouncingParts,
  mount: MountScope,
  serialKey: string,
  reason: RevocationReason | undefined,
  requestedBy: Revoker,
): Promise<void> => {
  const { id } = cluster();
  await store.transact(async (tx) => {
    const records = requestRecords(mount);
    const before = await records.find(tx, serialKey);
    const isReplaced = reason === REVOCATION_REASON.keyCompromise && before?.reason !== reason;
    if (before !== undefined && !isReplaced) return;
    const request: RevocationRequest = {
      requestingCluster: id,
      requestedAtMs: clock.nowMs(),
      requestedBy,
      reason,
    };
    putForAll(tx, mount, records, serialKey, request);
  });
  await carry(mount);
};

export const confirmRevocation = async (
  { store, clock, cluster, carry }: AnnouncingParts,
  mount: MountScope,
  serialKey: string,
  reason: RevocationReason | undefined,
): Promise<void> => {
  const { id } = cluster();
  await store.transact((tx) =>
    putForAll(tx, mount, confirmationRecords(mount), serialKey, {
      confirmingCluster: id,
      confirmedAtMs: clock.nowMs(),
      reason,
    }),
  );
  await carry(mount);
};
