/** Memory of this process that is still in use after a garbage collection. */
import { collectGarbage } from '../collect-garbage.ts';

/**
 * Growth over the second half of a run that counts as flat, because bounded caches are still filling. A leak
 * of 64 bytes in each of 500,000 inputs would exceed it.
 */
export const MAX_GROWTH_MEGABYTES = 32;

export const liveMegabytes = (): number => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 ** 2;
};
