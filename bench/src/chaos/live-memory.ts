/** Memory of this process that is in use after a collection. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Growth over the second half of a run that counts as flat: bounded caches are still filling then. 64
 * bytes kept of each of 500,000 inputs would show.
 */
export const MAX_GROWTH_MEGABYTES = 32;

const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
};

export const liveMegabytes = (): number => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 ** 2;
};
