/** Tells the other clusters what this one revoked. */
import type { Clock } from '@keelson/clock';
import type { Store } from '@keelson/storage';
import { revocationRecords } from '../certificates/certificate-records.ts';
import { crlConfigRecords, SETTING } from '../issuers/issuer-records.ts';
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

/**
 * What was revoked before there was anybody to tell. Told again, it is the same. What is revoked from
 * `unification` on is told as it is revoked, so that what comes during this is missed by neither.
 */
const tellOfBefore = async (
  { store, clock, cluster }: TellingParts,
  mount: MountScope,
  unification: string | undefined,
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
  const told = { atMs: clock.nowMs(), unification };
  await store.transact((tx) => toldRecords(mount).write(tx, TOLD, told));
};

/** Brings what the others do not know yet to where they see it. */
export const tellRevocations = async (parts: TellingParts, mount: MountScope): Promise<void> => {
  const { store } = parts;
  const config = await crlConfigRecords(mount).find(store, SETTING.crl);
  const told = await toldRecords(mount).find(store, TOLD);
  if (config?.unifiedCrl && (told === undefined || told.unification !== config.unification))
    await tellOfBefore(parts, mount, config.unification);
  await parts.carry(mount);
};
