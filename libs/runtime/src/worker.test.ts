import { ManualClock } from '@keelson/clock';
import { createLogger } from '@keelson/logging';
import { describe, expect, test } from 'vitest';
import { startWorker } from './runtime.ts';

const logger = createLogger({ name: 'test', level: 'silent' });
const settled = (): Promise<void> => new Promise(setImmediate);

describe('a supervised worker', () => {
  test('runs again after a failure, waiting twice as long each time', async () => {
    const clock = new ManualClock();
    let runs = 0;
    const worker = startWorker(
      'failing',
      () => {
        runs += 1;
        return Promise.reject(new Error('no luck'));
      },
      { logger, clock, firstDelayMs: 100 },
    );
    const seen: number[] = [];
    for (const byMs of [99, 1, 199, 1]) {
      await settled();
      clock.advance(byMs);
      await settled();
      seen.push(runs);
    }
    expect(seen).toEqual([1, 2, 2, 3]);
    await worker.stop();
  });

  test('reports the same failure once, and another one', async () => {
    const clock = new ManualClock();
    const lines: string[] = [];
    const failures = ['disk', 'disk', 'disk', 'network', 'disk'];
    let runs = 0;
    const worker = startWorker(
      'failing',
      () => {
        const message = failures[runs] ?? 'disk';
        runs += 1;
        return Promise.reject(new Error(message));
      },
      {
        logger: createLogger({
          name: 'test',
          level: 'warn',
          destination: { write: (line: string) => void lines.push(line) },
        }),
        clock,
        firstDelayMs: 1,
        maxDelayMs: 1,
      },
    );
    while (runs < failures.length) {
      await settled();
      clock.advance(1);
    }
    await settled();
    await worker.stop();
    expect(lines.map((line) => JSON.parse(line).err.message)).toEqual(['disk', 'network', 'disk']);
  });

  test('is not run again after it returned', async () => {
    let runs = 0;
    const worker = startWorker(
      'finite',
      () => {
        runs += 1;
        return Promise.resolve();
      },
      { logger, clock: new ManualClock() },
    );
    await worker.stop();
    expect(runs).toBe(1);
  });

  test('is aborted by stop, which waits for its end', async () => {
    let ended = false;
    const worker = startWorker(
      'endless',
      (signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            ended = true;
            resolve();
          });
        }),
      { logger },
    );
    await worker.stop();
    expect(ended).toBe(true);
  });
});
