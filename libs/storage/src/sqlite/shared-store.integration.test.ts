/** Threads that have one SQLite file open learn more from each other than its records. */
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import { halfWords, halves, ROOT_KEY, wordsOf } from '../crash/crash-records.ts';
import type { Store } from '../store.ts';
import { StoreFaults } from '../store-faults.ts';
import { createStoreMemory, SharedHead } from './shared-head.ts';
import { joinSqliteStore, openSqliteStore } from './sqlite-store.ts';
import type { TurnsData } from './turns-thread.ts';

let folder: TemporaryDirectory;
beforeEach(async () => {
  folder = await temporaryDirectory();
});
afterEach(() => folder[Symbol.asyncDispose]());

const memory = createStoreMemory;

describe('a store that two threads have open', () => {
  let first: Store;
  let second: Store;
  let shared: SharedHead;
  const lost: string[] = [];
  beforeEach(async () => {
    lost.length = 0;
    const file = join(folder.path, 'store.db');
    const given = memory();
    shared = new SharedHead(given, true);
    const open = async (openStore: typeof joinSqliteStore, name: string): Promise<Store> => {
      const barrier = createBarrier();
      const store = await openStore({
        file,
        memory: given,
        barrier,
        projections: [halfWords],
        onLost: () => lost.push(name),
      });
      await openBarrierFor(store, barrier, ROOT_KEY);
      return store;
    };
    first = await open(openSqliteStore, 'first');
    second = await open(joinSqliteStore, 'second');
  });
  afterEach(async () => {
    await second.close();
    await first.close();
  });

  test('is written by one while the other builds its tables again', async () => {
    const write = (store: Store, id: string): Promise<void> =>
      store.transact((tx) => halves.write(tx, id, { id, words: ['a', id], filler: '' }));
    for (let n = 0; n < 300; n += 1) await write(first, `early-${n}`);
    const late = Array.from({ length: 20 }, (_, n) => `late-${n}`);
    await Promise.all([
      first.rebuildProjections(),
      second.rebuildProjections(),
      ...late.map((id) => write(second, id)),
      second.merkle.rebuild(),
    ]);
    const ids = new Set((await wordsOf(first)).map(({ id }) => id));
    expect(ids.size).toBe(320);
    expect(await second.findDamagedProjections()).toEqual([]);
  });

  test('is closed to both when a write of one has failed', async () => {
    await first.transact((tx) => tx.write('shared/a', Buffer.from('1')));
    shared.lose();
    const refused = expect.objectContaining({ code: 'storage.lost' });
    for (const store of [first, second]) {
      await expect(store.read('shared/a')).rejects.toThrow(refused);
      await expect(store.transact((tx) => tx.write('shared/a', Buffer.from('2')))).rejects.toThrow(
        refused,
      );
    }
    expect(lost.toSorted()).toEqual(['first', 'second']);
  });
});

test('a fault that one thread notices is present for the other, which may end it', () => {
  const given = memory();
  const told: string[] = [];
  const [one, other] = ['one', 'other'].map((name) => {
    const faults = new StoreFaults(new SharedHead(given, true).faults);
    faults.onChange = ({ kind, isOver }) => told.push(`${name} ${kind} ${isOver}`);
    return faults;
  }) as [StoreFaults, StoreFaults];
  one.begin('full', new Error('no room'));
  other.begin('full', new Error('no room'));
  expect(other.present.map(({ kind }) => kind)).toEqual(['full']);
  other.end('full');
  one.end('full');
  expect(one.present).toEqual([]);
  expect(told).toEqual(['one full false', 'other full true']);
  one.close();
  other.close();
});

test('threads take turns in the order in which they asked', async () => {
  const given = memory();
  const heads = [0, 1, 2].map(() => new SharedHead(given, true));
  const order: number[] = [];
  const both = Promise.withResolvers<void>();
  const all = Promise.all([
    heads[0]?.inTurn(async () => {
      await both.promise;
      order.push(0);
    }),
    heads[1]?.inTurn(async () => void order.push(1)),
    heads[0]?.inTurn(async () => void order.push(0)),
    heads[2]?.inTurn(() => Promise.reject(new Error('failed'))).catch(() => order.push(2)),
    heads[1]?.inTurn(async () => void order.push(1)),
  ]);
  both.resolve();
  await all;
  expect(order).toEqual([0, 1, 0, 2, 1]);
});

test('a turn that ends while another thread prepares to wait for it wakes that thread', async () => {
  const given = memory();
  const [first, second] = [new SharedHead(given, true), new SharedHead(given, true)];
  const hasEnded = Promise.withResolvers<void>();
  let waiting: Promise<void> | undefined;
  const { store, waitAsync } = Atomics;
  const waitsLater: typeof waitAsync = (array: never, index: number, value: never) => ({
    async: true,
    value: hasEnded.promise.then(async () => {
      const { value: outcome } = waitAsync(array, index, value);
      return (await outcome) === 'timed-out' ? 'timed-out' : 'ok';
    }),
  });
  const storesLater = ((array: Int32Array, index: number, value: number) => {
    waiting = second.inTurn(async () => undefined);
    return store(array, index, value);
  }) as typeof store;
  vi.spyOn(Atomics, 'waitAsync').mockImplementationOnce(waitsLater);
  vi.spyOn(Atomics, 'store').mockImplementationOnce(storesLater);
  try {
    await first.inTurn(async () => undefined);
    hasEnded.resolve();
    await waiting;
    expect(waiting).toBeDefined();
  } finally {
    vi.restoreAllMocks();
  }
});

test('turns of several threads exclude each other, and none is left waiting', async () => {
  const head = memory();
  const counter = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const [threads, turns] = [4, 3000];
  const workers = Array.from({ length: threads }, () => {
    const workerData: TurnsData = { head, counter, turns };
    return new Worker(new URL('./turns-thread.ts', import.meta.url), { workerData });
  });
  await Promise.all(workers.map((worker) => once(worker, 'exit')));
  expect(new Int32Array(counter)[0]).toBe(threads * turns);
});
