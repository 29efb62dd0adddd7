/** Wakes who works on what clusters tell each other, as it is written here or comes by replication. */
import type { Store } from '@keelson/storage';

/** Places of what clusters tell each other, and of outboxes: below a mount's uuid. */
const TOLD =
  /^(?:shared|local)\/.*(?:outbox|cluster-revocations|unified-crl-pending|revocation-requests|revocation-confirmations)\//;

/** Written by the primary alone. */
const SHARED = 'shared/';

const isTold = (path: string): boolean => TOLD.test(path);

/**
 * Resolves with the first commit after `position` that tells something.
 * @param isWaiting something could not be told to the primary: whatever comes from it is a sign of it
 * @returns false when the log ended before one, as when `signal` aborts
 */
export const untilTold = async (
  store: Pick<Store, 'wal'>,
  position: number,
  signal: AbortSignal,
  isWaiting = false,
): Promise<boolean> => {
  const wakes = (path: string): boolean => isTold(path) || (isWaiting && path.startsWith(SHARED));
  for await (const { operations } of store.wal.follow(position, signal))
    if (operations.some(({ path, stored }) => stored !== undefined && wakes(path))) return true;
  return false;
};
