/** The check of pages that are staged for a restoration, with the keys that this process has. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  type Barrier,
  createBarrier,
  encodeOperations,
  openBarrierFor,
  openSqliteStore,
  rotateBarrier,
  type Store,
} from '@keelson/storage';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { storeCopyRpc } from './store-copy.ts';

const PATH = 'shared/rooms/one';
const rootKey = randomBytes(32);

let folder: TemporaryDirectory;
let store: Store;
let barrier: Barrier;
beforeEach(async () => {
  folder = await temporaryDirectory();
  barrier = createBarrier();
  store = await openSqliteStore({ file: join(folder.path, 'store.sqlite'), barrier });
  await openBarrierFor(store, barrier, rootKey);
});
afterEach(async () => {
  await store.close();
  await folder[Symbol.asyncDispose]();
});

/** Kinds of faults in a page with a record that these keys encrypted. */
const faultsOf = async (keys: Barrier): Promise<readonly string[]> => {
  const stored = keys.encrypt(PATH, Buffer.from('{}'));
  const page = Buffer.from(encodeOperations([{ path: PATH, stored }]));
  const rpc = storeCopyRpc({ store, barrier, stopReplication: async () => undefined });
  const { unreadable } = await rpc.stagePage({ restoration: 'one', page });
  return unreadable.map(({ path, kind }) => `${path} ${kind}`);
};

test('records of the own keys can be read', async () => {
  expect(await faultsOf(barrier)).toEqual([]);
});

test('records of a key that another replica has added can be read', async () => {
  const other = createBarrier();
  await openBarrierFor(store, other, rootKey);
  await rotateBarrier(store, other, 2);
  expect(barrier.term).toBe(1);
  expect(await faultsOf(other)).toEqual([]);
});

test('records of another cluster cannot be decrypted', async () => {
  const foreign = createBarrier();
  foreign.initialize(randomBytes(32));
  expect(await faultsOf(foreign)).toEqual([`${PATH} undecryptable`]);
});

test('encrypted records are not checked while the barrier is sealed', async () => {
  const foreign = createBarrier();
  foreign.initialize(randomBytes(32));
  barrier.seal();
  expect(await faultsOf(foreign)).toEqual([]);
});
