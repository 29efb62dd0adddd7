/** Asking for the revocation of certificates that another cluster issued, and answering that it was done. */
import type { MountScope } from '../mounts/mount-records.ts';
import { confirmationRecords, requestRecords } from './cluster-records.ts';
import { putForAll } from './outbox.ts';
import type { TellingParts } from './telling-operations.ts';

/** Asks all clusters; asked again, the first request stands. */
export const requestRevocation = async (
  { store, clock, cluster, carry }: TellingParts,
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
  { store, clock, cluster, carry }: TellingParts,
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
