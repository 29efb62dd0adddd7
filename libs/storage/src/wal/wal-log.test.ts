import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '@keelson/clock';
import { expect, test } from 'vitest';
import type { Backend } from '../backend.ts';
import { LogGrowth } from './log-growth.ts';
import { WalLog } from './wal-log.ts';

const WAITS = 30_000;
/** Retaining 100 bytes per wait would exceed this three times. */
const KEPT_BYTES = 1_000_000;

const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
};

const liveBytes = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

test('a follower leaks nothing when it waits for the log to grow', async () => {
  const grown = new LogGrowth();
  const stopped = new AbortController();
  const asked = { next: Promise.withResolvers<void>() };
  const log = new WalLog({
    // A log without entries never reads from the backend.
    backend: {} as Backend,
    head: async () => {
      asked.next.resolve();
      return 0;
    },
    grown,
    clock: systemClock,
    beforePruning: async () => undefined,
    exclusively: (work) => work(),
    hasChangedSince: () => false,
    closed: new AbortController().signal,
  });
  const following = (async () => {
    for await (const entry of log.follow(0, stopped.signal)) throw new Error(`${entry.sequence}`);
  })();
  const waitOften = async (): Promise<void> => {
    for (let wait = 0; wait < WAITS; wait += 1) {
      asked.next = Promise.withResolvers();
      grown.wake();
      await asked.next.promise;
    }
  };
  await asked.next.promise;
  await waitOften();
  const before = liveBytes();
  await waitOften();
  expect(liveBytes() - before).toBeLessThan(KEPT_BYTES);
  stopped.abort();
  await following;
});
