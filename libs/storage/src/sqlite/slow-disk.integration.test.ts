/** What callers see while flushes take as long as a test wants. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { temporaryDirectory } from '@keelson/testkit';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../store.ts';

const flush = fs.fdatasync;
/** The disk: flushes that are asked for wait for it. */
let disk: Promise<void> = Promise.resolve();
let afterFlushAsked: () => void = () => undefined;
fs.fdatasync = ((descriptor: number, done: fs.NoParamCallback) => {
  const ready = disk;
  afterFlushAsked();
  void ready.then(() => flush(descriptor, done));
}) as typeof fs.fdatasync;
syncBuiltinESMExports();
afterAll(() => {
  fs.fdatasync = flush;
  syncBuiltinESMExports();
});
// Imported after the patch above, which the store must see.
const { createBarrier, openBarrierFor, openSqliteStore } = await import('../storage.ts');
const { halfWords, halves, wordsOf } = await import('../crash/crash-records.ts');

/** More than the log may hold without a checkpoint, in records that are small enough. */
const RECORDS = 8;
const RECORD_BYTES = 256 * 1024;

/** From now on, or after the flush that is asked for next. */
const holdDisk = (after: 'now' | 'next flush') => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let isHeld = after === 'now';
  if (isHeld) disk = promise;
  afterFlushAsked = () => {
    if (isHeld) asked.resolve();
    isHeld = true;
    disk = promise;
  };
  const release = () => {
    afterFlushAsked = () => undefined;
    disk = Promise.resolve();
    resolve();
  };
  return { release, asked: asked.promise };
};

describe('while the disk is slow', () => {
  let store: Store;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  const write = (id: string, words: readonly string[]): Promise<void> =>
    store.transact((tx) => halves.write(tx, `left/${id}`, { id, words, filler: '' }));
  /** All that can be read, each in its own way. */
  const readAll = async () => ({
    one: (await store.read('shared/halves/left/a'))?.version,
    names: await store.list('shared/halves/left/'),
    scanned: (await store.scan('shared/halves/')).length,
    words: (await wordsOf(store)).map(({ word }) => word),
    head: await store.wal.headSequence(),
    stored: (await store.stored.listPaths('replicated', '', 100)).length,
  });

  beforeEach(async () => {
    folder = await temporaryDirectory();
    const barrier = createBarrier();
    const file = join(folder.path, 'store.db');
    store = await openSqliteStore({ file, barrier, projections: [halfWords] });
    await openBarrierFor(store, barrier, new Uint8Array(32).fill(2));
    await write('a', ['old']);
  });
  afterEach(async () => {
    await store.close();
    await folder[Symbol.asyncDispose]();
  });

  test('all reads give what was before, at once, and what is new from when it is on disk', async () => {
    const before = await readAll();
    const slow = holdDisk('now');
    let isWritten = false;
    const written = Promise.all([write('a', ['new']), write('b', ['other'])]).then(() => {
      isWritten = true;
    });
    await slow.asked;
    expect(await readAll()).toEqual(before);
    await setImmediate();
    expect(isWritten).toBe(false);
    slow.release();
    await written;
    const after = await readAll();
    expect(after).toMatchObject({ names: ['a', 'b'], words: ['new', 'other'] });
    expect(after.head).toBe(before.head + 2);
  });

  test('one of two that change what they have read goes on from what the other wrote', async () => {
    const slow = holdDisk('now');
    const add = (word: string): Promise<void> =>
      store.transact(async (tx) => {
        const half = halves.decode((await tx.read('shared/halves/left/a'))?.value as Uint8Array);
        halves.write(tx, 'left/a', { ...half, words: [...half.words, word] });
      });
    const first = add('one');
    await slow.asked;
    const second = add('two');
    slow.release();
    await Promise.all([first, second]);
    const { words } = await readAll();
    expect(words).toEqual(['old', 'one', 'two']);
  });

  test('reads do not wait for a checkpoint either, and what is written is there after it', async () => {
    // The commit's own flush is the last quick one: the checkpoint after it takes long.
    const slow = holdDisk('next flush');
    await store.transact((tx) => {
      for (let record = 0; record < RECORDS; record += 1)
        tx.write(`shared/large/${record}`, new Uint8Array(RECORD_BYTES));
    });
    await slow.asked;
    const written = write('b', ['other']);
    expect(await store.list('shared/halves/left/')).toEqual(['a']);
    slow.release();
    await written;
    expect(await store.list('shared/halves/left/')).toEqual(['a', 'b']);
  });
});
