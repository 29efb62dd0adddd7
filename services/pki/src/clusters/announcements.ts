/** Waits for announcements of clusters, written here or received by replication. */
import type { Store } from '@keelson/storage';

/** Paths of announcements that a round of the upkeep worker answers, and of outboxes: below a mount's uuid. */
const ANNOUNCEMENT =
  /^(?:shared|local)\/.*(?:outbox|cluster-revocations|unified-crl-pending|revocation-requests|revocation-confirmations)\//;

/** Written by the primary alone. */
const SHARED = 'shared/';

const isAnnouncement = (path: string): boolean => ANNOUNCEMENT.test(path);

/**
 * Resolves with the first commit after `position` that contains an announcement.
 * @param isWaiting the primary could not be reached before: any record from it shows that it can be now
 * @returns false when the log ended before one, as when `signal` aborts
 */
export const untilAnnounced = async (
  store: Pick<Store, 'wal'>,
  position: number,
  signal: AbortSignal,
  isWaiting = false,
): Promise<boolean> => {
  const wakes = (path: string): boolean =>
    isAnnouncement(path) || (isWaiting && path.startsWith(SHARED));
  for await (const { operations } of store.wal.follow(position, signal))
    if (operations.some(({ path, stored }) => stored !== undefined && wakes(path))) return true;
  return false;
};
