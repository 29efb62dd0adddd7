/**
 * A record to which a primary writes its time every few seconds. It shows a secondary's lag, even
 * if nothing else is written.
 */
import { type Clock, pause, systemClock } from '@keelson/clock';
import { hasCode } from '@keelson/errors';
import { type Store, singleRecord, unlessDamaged } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

const canaryShape = Type.Object({
  /** Clock of the primary. */
  writtenAtMs: Type.Number(),
});

const CANARY_INTERVAL_MS = 5000;
const canaryRecord = singleRecord('replication/canary', {
  scope: 'shared',
  version: 1,
  shape: canaryShape,
});

/** undefined before the first was written or has arrived, and until the next if it cannot be read. */
export const findCanary = (store: Store): Promise<Shaped<typeof canaryShape> | undefined> =>
  unlessDamaged(canaryRecord.find(store));

/**
 * Writes nothing if another cluster owns shared/, because that cluster's canary is replicated, or
 * while roles change: a cluster that steps back keeps its role in the other set and the work for
 * it.
 * @param store guarded
 * @param writtenAtMs epoch milliseconds by the clock of the primary
 */
export const writeCanary = async (store: Store, writtenAtMs: number): Promise<void> => {
  try {
    await store.transact((tx) => canaryRecord.write(tx, { writtenAtMs }));
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
