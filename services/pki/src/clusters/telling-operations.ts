/** Tells the other clusters what this one revoked. */
import type { Clock } from '@keelson/clock';
import type { Store } from '@keelson/storage';
import { revocationRecords } from '../certificates/certificate-records.ts';
import type { MountScope } from '../mounts/mount-records.ts';
import { type ThisCluster, TOLD, tellRevocation, toldRecords } from './cluster-records.ts';

export interface TellingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly cluster: () => ThisCluster;
  /** Brings the outbox to where all clusters see it, or leaves it for later. */
  readonly carry: (mount: MountScope) => Promise<void>;
}

const PAGE_SIZE = 500;

/** Once: what was revoked before there was anybody to tell. Told again, it is the same. */
const tellOfBefore = async (
  { store, clock, cluster }: TellingParts,
  mount: MountScope,
): Promise<void> => {
  const records = revocationRecords(mount);
  let after: string | undefined;
  do {
    const page = await records.keys(store, {
      limit: PAGE_SIZE,
      ...(after !== undefined && { after }),
    });
    await store.transact(async (tx) => {
      for (const serialKey of page) {
        const revocation = await records.find(tx, serialKey);
        if (revocation !== undefined) tellRevocation(tx, mount, cluster(), serialKey, revocation);
      }
    });
    after = page.at(-1);
  } while (after !== undefined);
  await store.transact((tx) => toldRecords(mount).write(tx, TOLD, { atMs: clock.nowMs() }));
};

/** Brings what the others do not know yet to where they see it. */
export const tellRevocations = async (parts: TellingParts, mount: MountScope): Promise<void> => {
  const told = await toldRecords(mount).find(parts.store, TOLD);
  if (told === undefined) await tellOfBefore(parts, mount);
  await parts.carry(mount);
};
