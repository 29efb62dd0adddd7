/** What callers see while flushes take as long as a test wants. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { temporaryDirectory } from '@keelson/testkit';
import { afterAll, expect, test } from 'vitest';

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

/** More than the log may hold without a checkpoint, in records that are small enough. */
const RECORDS = 8;
const RECORD_BYTES = 256 * 1024;
/** The queue of commits comes to the next group within these. */
const TURNS = 10;

test('a listing of what is being written waits for a checkpoint on a slow disk', async () => {
  await using folder = await temporaryDirectory();
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: join(folder.path, 'store.db'), barrier });
  await openBarrierFor(store, barrier, new Uint8Array(32).fill(2));
  const slow = Promise.withResolvers<void>();
  // The commit's own flush is the last quick one: the checkpoint after it takes long.
  afterFlushAsked = () => {
    disk = slow.promise;
  };
  await store.transact((tx) => {
    for (let record = 0; record < RECORDS; record += 1)
      tx.write(`shared/large/${record}`, new Uint8Array(RECORD_BYTES));
  });
  const written = store.transact((tx) => tx.write('shared/rooms/a', new Uint8Array(1)));
  for (let turn = 0; turn < TURNS; turn += 1) await setImmediate();
  const listed = store.list('shared/rooms/');
  for (let turn = 0; turn < TURNS; turn += 1) await setImmediate();
  slow.resolve();
  await expect(listed).resolves.toEqual(['a']);
  await written;
  await store.close();
});
