import { join } from 'node:path';
import type { KeelsonError } from '@keelson/errors';
import { createBarrier, openBarrierFor, openSqliteStore, type Store } from '@keelson/storage';
import { temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { guardWrites, WriteGate } from './write-gate.ts';

let store: Store;
let guarded: Store;
const gate = new WriteGate();
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;

beforeAll(async () => {
  folder = await temporaryDirectory();
  const barrier = createBarrier();
  store = await openSqliteStore({ file: join(folder.path, 'store.db'), barrier });
  await openBarrierFor(store, barrier, new Uint8Array(32).fill(1));
  guarded = guardWrites(store, gate);
});
afterAll(async () => {
  await store.close();
  await folder[Symbol.asyncDispose]();
});

const writes = async (paths: readonly string[]): Promise<boolean> => {
  try {
    await guarded.transact((tx) => {
      for (const path of paths) tx.write(path, Buffer.from('value'));
    });
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'replication.read_only' });
    return false;
  }
};

test.for([
  ['none', [true, true, true]],
  ['shared', [false, true, true]],
  ['all', [false, false, true]],
] as const)('closed for %s', async ([closed, expected]) => {
  gate.close(closed);
  const found = [];
  for (const scope of ['shared', 'local', 'node']) found.push(await writes([`${scope}/a`]));
  expect(found).toEqual(expected);
});

test('a transaction refused by the gate has written nothing, and deletions count as writes', async () => {
  gate.close('shared');
  expect(await writes(['local/before', 'shared/x'])).toBe(false);
  expect(await store.read('local/before')).toBeUndefined();
  await expect(guarded.transact((tx) => tx.delete('shared/a'))).rejects.toMatchObject({
    code: 'replication.read_only',
  });
});

test('records from another store pass the gate', async () => {
  gate.close('all');
  const [copy] = await store.stored.read(['shared/a']);
  await guarded.applyRecords('log', copy === undefined ? [] : [{ ...copy, stored: undefined }]);
  expect(await guarded.read('shared/a')).toBeUndefined();
});

test.for([
  ['none', 'written'],
  ['shared', 'replication.read_only'],
] as const)(
  'a transaction is repeated that began before the first turn of a replica, which closes the gate for %s',
  async ([closed, expected]) => {
    const started = new WriteGate();
    const writing = guardWrites(store, started).transact(async (tx) => {
      if (started.turn === undefined) {
        started.close(closed);
        await started.takeTurn(store, `start with ${closed}`);
      }
      tx.write('shared/early', Buffer.from(closed));
      return 'written';
    });
    expect(await writing.catch(({ code }: KeelsonError) => code)).toBe(expected);
    expect(await store.read('shared/early')).toMatchObject({ value: Buffer.from('none') });
  },
);

test('a transaction that began before a role change is not committed after it', async () => {
  gate.close('none');
  await gate.takeTurn(store, 'first');
  const hasWritten = Promise.withResolvers<void>();
  const isClosed = Promise.withResolvers<void>();
  const writing = guarded.transact(async (tx) => {
    tx.write('shared/late', Buffer.from('value'));
    hasWritten.resolve();
    await isClosed.promise;
  });
  await hasWritten.promise;
  gate.close('all');
  await gate.takeTurn(store, 'second');
  isClosed.resolve();
  await expect(writing).rejects.toMatchObject({ code: 'replication.switching' });
  expect(await store.read('shared/late')).toBeUndefined();
});
