/** Memory of this process before and after the second half of a run. */
import { collectGarbage } from '../collect-garbage.ts';

const MEGABYTE = 1024 ** 2;

export interface Memory {
  readonly name: string;
  /** In MB. */
  readonly measure: () => number | Promise<number>;
  readonly isGrown: (before: number, after: number) => boolean;
}

/**
 * Growth over the second half of a run that counts as flat, because bounded caches are still filling. A leak
 * of 64 bytes in each of 500,000 inputs would exceed it.
 */
const MAX_LIVE_GROWTH_MEGABYTES = 32;

/** Memory that is still in use after a garbage collection. @param measure in MB */
export const liveMemory = (measure: Memory['measure']): Memory => ({
  name: 'live memory',
  measure,
  isGrown: (before, after) => after - before > MAX_LIVE_GROWTH_MEGABYTES,
});

export const LIVE_MEMORY = liveMemory(() => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MEGABYTE;
});

const MAX_RESIDENT_GROWTH = 1.5;
/** Size of the caches of a database and its records, which fill as both grow. */
const STORE_CACHES_MEGABYTES = 128;

/** Resident memory of this process, for a service whose store grows with what it accepts. */
export const RESIDENT_MEMORY: Memory = {
  name: 'resident memory',
  measure: () => process.memoryUsage().rss / MEGABYTE,
  isGrown: (before, after) =>
    after - before > STORE_CACHES_MEGABYTES && after / before > MAX_RESIDENT_GROWTH,
};
