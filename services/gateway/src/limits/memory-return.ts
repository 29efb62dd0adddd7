/**
 * Returns memory to the system after a burst of requests. V8 collects garbage when it allocates, so that an idle
 * process keeps what the burst took: 300 MB after 45,000 unfinished requests of HTTP/2, measured.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '@keelson/clock';

/** Requests in progress at once from which on a collection is worth its pause, some 50 ms. */
const BURST = 256;
/** Wait for the connections of the burst to close. */
const SETTLE_MS = 1000;

/** A full collection of the heap, as a task of its own. */
const loadCollector = (): (() => Promise<void>) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  return () => collect({ type: 'major', execution: 'async' });
};

/** @returns a function to call with the most requests that were in progress at once, when all have ended */
export const returnMemoryAfterBursts = (clock: Clock): ((peak: number) => void) => {
  const collect = loadCollector();
  let isPlanned = false;
  return (peak) => {
    if (peak < BURST || isPlanned) return;
    isPlanned = true;
    clock.after(SETTLE_MS, () => {
      isPlanned = false;
      void collect();
    });
  };
};
