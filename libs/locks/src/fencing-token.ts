/**
 * Fencing tokens are microseconds of the clock of whoever keeps the leases, pushed up where that would
 * not be new: they grow over all holders, and go on growing when the counter is lost (a restart of the
 * in-process store, a Redis that comes back empty or fails over to a replica that lags). Below 2^53 until
 * the year 2255. See docs/decisions/0021.
 *
 * `ACQUIRE` in redis-lease-records.ts is the same rule where it runs atomically.
 */
export const nextFencingToken = (newest: number, nowMs: number): number =>
  Math.max(newest + 1, nowMs * 1000);
