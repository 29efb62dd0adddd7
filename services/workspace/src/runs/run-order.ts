/**
 * The order in which runs were made, finer than their times: microseconds of this process, which never
 * stand still. A workspace's runs are in their order over all replicas too (`queueRun`).
 */
import type { Clock } from '@keelson/clock';

export const ORDERS_PER_MS = 1000;

/** Gives a greater number with every call. */
export const createRunOrder = (clock: Pick<Clock, 'nowMs'>): (() => number) => {
  let newest = 0;
  return () => {
    newest = Math.max(newest + 1, clock.nowMs() * ORDERS_PER_MS);
    return newest;
  };
};

/** Of runs from before they had one. */
export const toRunOrder = (run: {
  readonly order?: number;
  readonly createdAtMs: number;
  readonly number: number;
}): number => run.order ?? run.createdAtMs * ORDERS_PER_MS + (run.number % ORDERS_PER_MS);
