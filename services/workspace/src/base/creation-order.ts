import type { Clock } from '@keelson/clock';

interface Created {
  readonly id: string;
  readonly createdAtMs: number;
}

/** Compares for sorting: by time of creation, oldest first, and by id within a millisecond. */
export const byCreation = (a: Created, b: Created): number =>
  a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1);

/** Units of an order in a millisecond. */
export const ORDERS_PER_MS = 1000;

/**
 * An order finer than timestamps: microseconds of this process, strictly increasing.
 * @returns returns a greater number with every call
 */
export const createFineOrder = (clock: Pick<Clock, 'nowMs'>): (() => number) => {
  let newest = 0;
  return () => {
    newest = Math.max(newest + 1, clock.nowMs() * ORDERS_PER_MS);
    return newest;
  };
};
