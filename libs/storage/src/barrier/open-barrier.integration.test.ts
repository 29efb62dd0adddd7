import { join } from 'node:path';
import { temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqliteStore } from '../sqlite/sqlite-store.ts';
import type { Store } from '../store.ts';
import { type Barrier, createBarrier } from './barrier.ts';
import { KEYRING_PATH } from './keyring.ts';
import {
  countEncryptions,
  extendKeyring,
  loadWrappedKeyring,
  openBarrierFor,
  refreshBarrier,
  rotateBarrier,
} from './open-barrier.ts';

const ROOT_KEY = new Uint8Array(32).fill(3);
const PATH = 'shared/a';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let barrier: Barrier;
let store: Store;

const openStore = async (): Promise<void> => {
  barrier = createBarrier();
  store = await openSqliteStore({ file: join(directory.path, 'store.db'), barrier });
};
const reopenStore = async (): Promise<void> => {
  await store.close();
  await openStore();
  await openBarrierFor(store, barrier, ROOT_KEY);
};
const write = (text: string): Promise<void> =>
  store.transact((tx) => tx.write(PATH, Buffer.from(text)));
const readText = async (): Promise<string | undefined> => {
  const record = await store.read(PATH);
  return record && Buffer.from(record.value).toString();
};

beforeEach(async () => {
  directory = await temporaryDirectory();
  await openStore();
});
afterEach(async () => {
  await store.close();
  await directory[Symbol.asyncDispose]();
});

test('creates a keyring once and opens with it from then on', async () => {
  await openBarrierFor(store, barrier, ROOT_KEY);
  await write('one');
  await reopenStore();
  expect(await readText()).toBe('one');
});

test('several replicas that open a new store at once share one keyring', async () => {
  const replicas = [barrier, createBarrier(), createBarrier()];
  await Promise.all(replicas.map((replica) => openBarrierFor(store, replica, ROOT_KEY)));
  const stored = barrier.encrypt(PATH, Buffer.from('one'));
  for (const replica of replicas)
    expect(Buffer.from(replica.decrypt(PATH, stored)).toString()).toBe('one');
});

test('refuses another root key and leaves the keyring unchanged', async () => {
  await openBarrierFor(store, barrier, ROOT_KEY);
  const kept = await store.read(KEYRING_PATH);
  await expect(
    openBarrierFor(store, createBarrier(), new Uint8Array(32).fill(4)),
  ).rejects.toMatchObject({ code: 'barrier.wrong_root_key' });
  expect(await store.read(KEYRING_PATH)).toEqual(kept);
});

test('moves the keyring from a former root key, once, whichever replica is the first', async () => {
  await openBarrierFor(store, barrier, ROOT_KEY);
  await write('one');
  const rootKey = new Uint8Array(32).fill(5);
  const replicas = [createBarrier(), createBarrier()];
  const former = [new Uint8Array(32).fill(6), ROOT_KEY];
  await Promise.all(replicas.map((replica) => openBarrierFor(store, replica, rootKey, former)));
  const sealed = replicas[0]?.encrypt(PATH, Buffer.from('two')) ?? new Uint8Array();
  expect(Buffer.from(replicas[1]?.decrypt(PATH, sealed) ?? '').toString()).toBe('two');
  await expect(openBarrierFor(store, createBarrier(), ROOT_KEY)).rejects.toMatchObject({
    code: 'barrier.wrong_root_key',
  });
  await openBarrierFor(store, barrier, rootKey);
  expect(await readText()).toBe('one');
});

test('a rotation is on disk before it is used, and older records stay readable', async () => {
  await openBarrierFor(store, barrier, ROOT_KEY);
  await write('one');
  await rotateBarrier(store, barrier, 2);
  expect(barrier.term).toBe(2);
  await reopenStore();
  expect(barrier.term).toBe(2);
  expect(await readText()).toBe('one');
});

test('replicas that rotate to the same term agree on its key', async () => {
  const other = createBarrier();
  await openBarrierFor(store, barrier, ROOT_KEY);
  await openBarrierFor(store, other, ROOT_KEY);
  await Promise.all([rotateBarrier(store, barrier, 3), rotateBarrier(store, other, 3)]);
  const stored = barrier.encrypt(PATH, Buffer.from('one'));
  expect(Buffer.from(other.decrypt(PATH, stored)).toString()).toBe('one');
});

test('a replica that meets an unknown term finds it after a refresh', async () => {
  const other = createBarrier();
  await openBarrierFor(store, barrier, ROOT_KEY);
  await openBarrierFor(store, other, ROOT_KEY);
  await rotateBarrier(store, barrier, 2);
  const stored = barrier.encrypt(PATH, Buffer.from('one'));
  expect(() => other.decrypt(PATH, stored)).toThrow(
    expect.objectContaining({ code: 'barrier.unknown_term' }),
  );
  await refreshBarrier(store, other);
  expect(Buffer.from(other.decrypt(PATH, stored)).toString()).toBe('one');
});

test('a keyring from elsewhere extends the stored one; one without new keys changes nothing', async () => {
  await openBarrierFor(store, barrier, ROOT_KEY);
  const first = await loadWrappedKeyring(store);
  const other = createBarrier();
  other.unseal(ROOT_KEY, first);
  const third = other.grown(first, 3);
  const second = other.grown(first, 2);
  other.adopt(third);
  await extendKeyring(store, barrier, third);
  await extendKeyring(store, barrier, second);
  await extendKeyring(store, barrier, first);
  expect(await loadWrappedKeyring(store)).toEqual(third);
  const stored = other.encrypt(PATH, Buffer.from('one'));
  expect(Buffer.from(barrier.decrypt(PATH, stored)).toString()).toBe('one');
  const foreign = createBarrier().initialize(new Uint8Array(32).fill(4));
  await expect(extendKeyring(store, barrier, foreign)).rejects.toMatchObject({
    code: 'barrier.wrong_root_key',
  });
});

test('counts encryptions of all replicas and over restarts', async () => {
  await openBarrierFor(store, barrier, ROOT_KEY);
  await write('one');
  await write('two');
  await countEncryptions(store, barrier);
  const other = createBarrier();
  await openBarrierFor(store, other, ROOT_KEY);
  other.encrypt(PATH, Buffer.from('three'));
  await countEncryptions(store, other);
  await reopenStore();
  expect(barrier.keyStatus()).toMatchObject({ term: 1, encryptions: 3 });
});
