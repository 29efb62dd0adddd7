import { startFaultProxy, startRedis } from '@keelson/testkit';
import { expect, test } from 'vitest';
import type { HeldLease } from './leases.ts';
import { RedisLeaseStore } from './redis-lease-store.ts';

const never = new AbortController().signal;
const unavailable = expect.objectContaining({ code: 'lock.unavailable' });

const lost = async (lease: HeldLease): Promise<void> => {
  if (!lease.lost.aborted)
    await new Promise((resolve) => lease.lost.addEventListener('abort', resolve));
};

const openStore = (url: string, onReachable?: (isReachable: boolean) => void) => {
  const store = new RedisLeaseStore({
    connection: { url, commandTimeout: 200 },
    ...(onReachable !== undefined && { onReachable }),
  });
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
};

test('without Redis an attempt fails clearly, and succeeds once it is back', async () => {
  await using redis = await startRedis();
  await redis.process.stop();
  const told: boolean[] = [];
  await using store = openStore(redis.url, (isReachable) => told.push(isReachable));
  await expect(store.tryAcquire('crl', { ttlMs: 1000 })).rejects.toEqual(unavailable);
  const waiting = store.acquire('crl', { ttlMs: 1000 }, never);
  expect(store.isReachable).toBe(false);
  await redis.process.start();
  expect((await waiting).name).toBe('crl');
  expect(store.isReachable).toBe(true);
  expect(told).toEqual([false, true]);
});

test('a lease outlives an outage shorter than its TTL', async () => {
  await using redis = await startRedis({ durable: true });
  await using store = openStore(redis.url);
  const lease = await store.acquire('crl', { ttlMs: 60_000 }, never);
  await redis.process.kill();
  await expect(store.tryAcquire('other', { ttlMs: 1000 })).rejects.toEqual(unavailable);
  await redis.process.start();
  await store.acquire('other', { ttlMs: 1000 }, never);
  expect(lease.lost.aborted).toBe(false);
  expect(await store.tryAcquire('crl', { ttlMs: 1000 })).toBeUndefined();
});

test.for(['cut', 'stall'] as const)(
  'a holder behind a network fault (%s) loses its lease, and another acquires it',
  async (fault) => {
    await using redis = await startRedis();
    await using proxy = await startFaultProxy(redis.port);
    await using behindFault = openStore(`redis://127.0.0.1:${proxy.port}`);
    await using other = openStore(redis.url);
    const first = await behindFault.acquire('crl', { ttlMs: 300 }, never);
    proxy[fault]();
    const second = await other.acquire('crl', { ttlMs: 60_000 }, never);
    expect(second.lost.aborted).toBe(false);
    await lost(first);
    await expect(behindFault.tryAcquire('tidy', { ttlMs: 300 })).rejects.toEqual(unavailable);
    proxy.pass();
    const third = await behindFault.acquire('tidy', { ttlMs: 300 }, never);
    expect(third.name).toBe('tidy');
  },
);
