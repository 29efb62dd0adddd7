/**
 * A record to which a primary writes its time every few seconds. It shows a secondary's lag, even
 * if nothing else is written.
 */
import { type Clock, pause, systemClock } from '@keelson/clock';
import { hasCode } from '@keelson/errors';
import { jsonRecords, type Store } from '@keelson/storage';

interface Canary {
  /** Clock of the primary. */
  readonly writtenAtMs: number;
}

const CANARY_INTERVAL_MS = 5000;
const KEY = 'canary';
const canaries = jsonRecords<Canary>('shared/replication/');

/** undefined before the first was written or has arrived. */
export const findCanary = (store: Store): Promise<Readonly<Canary> | undefined> =>
  canaries.find(store, KEY);

/**
 * Writes nothing if another cluster owns shared/, because that cluster's canary is replicated, or
 * while roles change: a cluster that steps back keeps its role in the other set and the work for
 * it.
 * @param store guarded
 * @param writtenAtMs epoch milliseconds by the clock of the primary
 */
export const writeCanary = async (store: Store, writtenAtMs: number): Promise<void> => {
  try {
    await store.transact((tx) => canaries.write(tx, KEY, { writtenAtMs }));
  } catch (error) {
    if (!hasCode(error, 'replication.read_only', 'replication.switching')) throw error;
  }
};

/** Writes a canary at once and then at each interval, until `signal` aborts. */
export const runCanary = async (
  store: Store,
  signal: AbortSignal,
  {
    clock = systemClock,
    intervalMs = CANARY_INTERVAL_MS,
  }: { readonly clock?: Clock; readonly intervalMs?: number } = {},
): Promise<void> => {
  while (!signal.aborted) {
    await writeCanary(store, clock.nowMs());
    await pause(clock, intervalMs, signal);
  }
};
