/**
 * The order in which runs were created, finer than their timestamps: microseconds of this process, strictly
 * increasing. The runs of one workspace are also ordered across replicas (`queueRun`).
 */
import type { Clock } from '@keelson/clock';

export const ORDERS_PER_MS = 1000;

/** Returns a greater number with every call. */
export const createRunOrder = (clock: Pick<Clock, 'nowMs'>): (() => number) => {
  let newest = 0;
  return () => {
    newest = Math.max(newest + 1, clock.nowMs() * ORDERS_PER_MS);
    return newest;
  };
};

/** Order of runs without one. */
export const toRunOrder = (run: {
  readonly order?: number | undefined;
  readonly createdAtMs: number;
  readonly number: number;
}): number => run.order ?? run.createdAtMs * ORDERS_PER_MS + (run.number % ORDERS_PER_MS);
