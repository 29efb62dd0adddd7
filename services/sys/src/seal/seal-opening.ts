/**
 * Opens a static seal at the start, or as soon as another replica has initialized the cluster. A seal of
 * shares stays closed until the shares are given to this replica.
 */
import type { Store } from '@keelson/storage';
import type { Seal } from './seal.ts';
import { sealRecords } from './seal-records.ts';

/** Returns once the seal is open, or when `signal` aborts. */
export const openStaticSeal = async (
  seal: Seal,
  store: Store,
  signal: AbortSignal,
): Promise<void> => {
  // Read before the first attempt, so that an initialization in between is not missed.
  const position = await store.wal.headSequence();
  await seal.openWithKeyFile();
  if (!seal.isSealed) return;
  const sealPath = sealRecords.path;
  for await (const { operations } of store.wal.follow(position, signal)) {
    if (operations.some(({ path }) => path === sealPath)) await seal.openWithKeyFile();
    if (!seal.isSealed) return;
  }
};
