/** Memory of this process that is in use after a collection. */
import { collectGarbage } from '../collect-garbage.ts';

/**
 * Growth over the second half of a run that counts as flat: bounded caches are still filling then. 64
 * bytes kept of each of 500,000 inputs would show.
 */
export const MAX_GROWTH_MEGABYTES = 32;

export const liveMegabytes = (): number => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 ** 2;
};
