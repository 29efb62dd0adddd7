import { type Clock, ManualClock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import { createRegistry } from '@keelson/metrics';
import { expect, test } from 'vitest';
import type { ObjectStorage } from './object-storage.ts';
import { watchStorage } from './watched-storage.ts';

type Kind = 'put' | 'get' | 'list' | 'delete';

/** An object storage that refuses some kinds of requests, as a bucket with a policy does. */
const openRefusing = () => {
  const refused = new Set<Kind>();
  const keys = new Set<string>();
  const answer = async <T>(kind: Kind, result: T): Promise<T> => {
    if (refused.has(kind)) throw new KeelsonError('objects.unavailable', { reason: kind });
    return result;
  };
  const storage: ObjectStorage = {
    place: 'bucket',
    put: async (key) => {
      await answer('put', undefined);
      keys.add(key);
    },
    putStream: () => answer('put', 0),
    get: () => answer('get', undefined),
    getStream: () => answer('get', undefined),
    list: () => answer('list', []),
    delete: async (removed) => {
      await answer('delete', undefined);
      for (const key of removed) keys.delete(key);
    },
    close: () => Promise.resolve(),
  };
  const told: string[] = [];
  const tell = (_: object, text: string): number => told.push(text);
  const logger = { error: tell, info: tell } as unknown as Logger;
  const registry = createRegistry('test');
  const manual = new ManualClock();
  let paused = Promise.withResolvers<undefined>();
  const clock: Clock = {
    nowMs: () => manual.nowMs(),
    after: (delayMs, callback) => {
      paused.resolve(undefined);
      return manual.after(delayMs, callback);
    },
  };
  /** Resolves at the next pause between two checks, and ends it. */
  const nextCheck = async (): Promise<void> => {
    await paused.promise;
    paused = Promise.withResolvers();
    manual.advance(10_000);
  };
  const watched = watchStorage(storage, 'contents', { logger, registry, clock });
  const isUp = async (): Promise<boolean> =>
    (await registry.metrics()).includes('keelson_object_storage_up{purpose="contents"} 1');
  return { watched, refused, keys, told, nextCheck, isUp };
};

const CANNOT = 'the object storage cannot be used';
const CAN = 'the object storage can be used again';
const BYTES = new Uint8Array(1);

test.for(['put', 'get', 'delete'] as const)(
  'a storage that refuses only %s stays at fault until one is answered',
  async (kind) => {
    const { watched, refused, told, isUp } = openRefusing();
    const ask = { put: () => watched.put('a', BYTES), get: () => watched.get('a') };
    const send = kind === 'delete' ? () => watched.delete(['a']) : ask[kind];
    refused.add(kind);
    for (let times = 0; times < 2; times += 1) {
      await expect(send()).rejects.toThrow(KeelsonError);
      await watched.list('', { limit: 1 });
      expect(watched.impaired()).toEqual([expect.stringContaining(`contents: ${CANNOT}`)]);
      expect(await isUp()).toBe(false);
    }
    expect(told).toEqual([CANNOT]);
    refused.clear();
    await send();
    expect(watched.impaired()).toEqual([]);
    expect(await isUp()).toBe(true);
    expect(told).toEqual([CANNOT, CAN]);
  },
);

test('each kind that failed is tried at intervals, and nothing is left behind', async () => {
  const { watched, refused, keys, told, nextCheck, isUp } = openRefusing();
  for (const kind of ['put', 'get', 'delete'] as const) refused.add(kind);
  await Promise.allSettled([watched.put('a', BYTES), watched.get('a'), watched.delete(['a'])]);
  const ending = new AbortController();
  const following = watched.follow(ending.signal);
  for (const kind of ['get', 'put', 'delete'] as const) {
    expect(await isUp()).toBe(false);
    refused.delete(kind);
    await nextCheck();
  }
  await nextCheck();
  expect([watched.impaired(), await isUp(), [...keys], told]).toEqual([
    [],
    true,
    [],
    [CANNOT, CAN],
  ]);
  ending.abort();
  await following;
});
