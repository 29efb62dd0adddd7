/** Requests between clusters to revoke certificates, and their confirmations. */
import type { MountScope } from '../mounts/mount-records.ts';
import type { AnnouncingParts } from './announcing-operations.ts';
import { confirmationRecords, requestRecords } from './cluster-records.ts';
import { putForAll } from './outbox.ts';

/** Asks all clusters; asked again, the first request remains. */
export const requestRevocation = async (
  { store, clock, cluster, carry }: AnnouncingParts,
  mount: MountScope,
  serialKey: string,
): Promise<void> => {
  const { id } = cluster();
  await store.transact(async (tx) => {
    const records = requestRecords(mount);
    if ((await records.find(tx, serialKey)) !== undefined) return;
    const request = { requestingCluster: id, requestedAtMs: clock.nowMs() };
    putForAll(tx, mount, records, serialKey, request);
  });
  await carry(mount);
};

export const confirmRevocation = async (
  { store, clock, cluster, carry }: AnnouncingParts,
  mount: MountScope,
  serialKey: string,
): Promise<void> => {
  const { id } = cluster();
  await store.transact((tx) =>
    putForAll(tx, mount, confirmationRecords(mount), serialKey, {
      confirmingCluster: id,
      confirmedAtMs: clock.nowMs(),
    }),
  );
  await carry(mount);
};
