/** A pool of real threads: its results, and the handling of jobs whose thread ends. */
import { createLogger } from '@keelson/logging';
import { expect, test } from 'vitest';
import { ThreadPool } from './thread-pool.ts';

const logger = createLogger({ name: 'test', level: 'silent' });

const TRIED = new URL('./testdata/tried-thread.ts', import.meta.url);

const openPool = (entry = TRIED): ThreadPool<number, number> =>
  new ThreadPool(
    {
      entry,
      name: 'tried',
      here: (value) => 1000 + value,
      maxThreads: 1,
      jobsPerMessage: 4,
      messagesAtATime: 2,
      messagesOfOwner: 1,
    },
    logger,
  );

const HERE = 1001;

test('jobs run on the calling thread until a worker thread is ready, then on that', {
  timeout: 60_000,
}, async () => {
  const pool = openPool();
  expect(await pool.run(1)).toBe(HERE);
  await pool.whenStarted();
  const values = Array.from({ length: 50 }, (_, value) => (value === 13 ? 0 : value));
  expect(await Promise.all(values.map((value) => pool.run(value)))).toEqual(
    values.map((value) => 2 * value),
  );
  await expect(pool.run(-1)).rejects.toMatchObject({ code: 'request.invalid' });
  await pool.end(new Error('over'));
});

test('owners take turns, and one leaves places for another', { timeout: 60_000 }, async () => {
  const pool = openPool();
  await pool.whenStarted();
  const ended: string[] = [];
  const run = async (owner: string, value: number, isAlone: boolean) => {
    await pool.run(value, { owner, isAlone });
    ended.push(owner);
  };
  const greedy = Array.from({ length: 50 }, (_, value) =>
    run('greedy', value + 100, value % 2 === 0),
  );
  await Promise.all([...greedy, run('polite', 1, false), run('third', 2, true)]);
  expect(ended.indexOf('polite')).toBeLessThan(10);
  expect(ended.indexOf('third')).toBeLessThan(10);
  await pool.end(new Error('over'));
});

test('a job whose thread ends is refused, and the next one runs on another thread', {
  timeout: 60_000,
}, async () => {
  const pool = openPool();
  await pool.whenStarted();
  await expect(pool.run(13)).rejects.toMatchObject({ code: 'internal' });
  expect(await pool.run(2)).toBe(4);
  await pool.end(new Error('over'));
});

test('pending jobs reject with the reason of the stop; later ones start threads again', {
  timeout: 60_000,
}, async () => {
  const pool = openPool();
  await pool.whenStarted();
  const pending = [pool.run(1), pool.run(2, { isAlone: true })];
  const settled = Promise.allSettled(pending);
  await pool.end(new Error('over'));
  for (const { status } of await settled) expect(status).toBe('rejected');
  await pool.whenStarted();
  expect(await pool.run(3)).toBe(6);
  await pool.end(new Error('over'));
});

test('if no thread starts, jobs run on the calling thread', { timeout: 60_000 }, async () => {
  const pool = openPool(new URL('file:///absent.ts'));
  expect(await pool.run(1)).toBe(HERE);
  await pool.whenStarted();
  expect(await pool.run(1)).toBe(HERE);
  expect(pool.threadCount).toBe(0);
});
