/** Whatever happens to Redis, the store never accepts commits of two holders alternately. */
import { join } from 'node:path';
import { ManualClock } from '@keelson/clock';
import { hasCode } from '@keelson/errors';
import {
  createBarrier,
  type Fence,
  openSqliteStore,
  type Store,
  takeFence,
} from '@keelson/storage';
import { propertySettings, startRedis, temporaryDirectory } from '@keelson/testkit';
import { startSentinelGroup } from '@keelson/testkit/high-availability';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InProcessLeaseRecords, InProcessLeaseStore } from './in-process-lease-store.ts';
import type { LeaseStore } from './leases.ts';
import { RedisLeaseStore, toRedisConnection } from './redis-lease-store.ts';

const LEASE = { ttlMs: 60_000 };
const never = new AbortController().signal;
const fenced = expect.objectContaining({ code: 'storage.fenced' });

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let store: Store;
beforeAll(async () => {
  directory = await temporaryDirectory();
  const barrier = createBarrier();
  barrier.initialize(new Uint8Array(32).fill(1));
  store = await openSqliteStore({ file: join(directory.path, 'store.db'), barrier });
});
afterAll(async () => {
  await store.close();
  await directory[Symbol.asyncDispose]();
});

/** The steps of a worker before its first commit. */
const acquire = async (leases: LeaseStore, name: string, options = LEASE): Promise<Fence> => {
  const lease = await leases.acquire(name, options, never);
  return takeFence(store, lease.name);
};

const commit = (fence: Fence, text: string): Promise<void> =>
  store.transact((tx) => tx.write('local/work', Buffer.from(text)), { fence });

/** Whether the store accepted a commit of this holder; any error other than fencing fails the test. */
const isAccepted = (fence: Fence): Promise<boolean> =>
  commit(fence, 'work').then(
    () => true,
    (error: unknown) => {
      if (hasCode(error, 'storage.fenced')) return false;
      throw error;
    },
  );

/** A paused holder: it neither renews its lease nor notices that time passes. */
const openPaused = (url: string) =>
  new RedisLeaseStore({ connection: url, clock: new ManualClock() });

describe('after Redis was killed and came back empty', () => {
  test('the new holder commits and the old one is refused', async () => {
    await using redis = await startRedis();
    const [paused, other] = [openPaused(redis.url), openPaused(redis.url)];
    const first = await acquire(paused, 'restart');
    await commit(first, 'first');
    await redis.process.kill();
    await redis.process.start();
    const next = new RedisLeaseStore({ connection: redis.url });
    const second = await acquire(next, 'restart');
    await commit(second, 'second');
    await expect(commit(first, 'first again')).rejects.toEqual(fenced);
    await commit(second, 'second again');
    await Promise.all([paused, other, next].map((leases) => leases.close()));
  });
});

describe('after a failover to a replica that had not heard of the lease', () => {
  test('the new holder commits and the old one is refused', async () => {
    await using primary = await startRedis();
    await using replica = await startRedis();
    const paused = openPaused(primary.url);
    const first = await acquire(paused, 'failover');
    await commit(first, 'first');
    primary.process.pause();
    const next = new RedisLeaseStore({ connection: replica.url });
    const second = await acquire(next, 'failover');
    await commit(second, 'second');
    primary.process.resume();
    await expect(commit(first, 'first again')).rejects.toEqual(fenced);
    await Promise.all([paused, next].map((leases) => leases.close()));
  });

  test('and so is it when sentinels replace a master that was lost', async () => {
    await using group = await startSentinelGroup();
    const connection = toRedisConnection({ redisUrl: group.url, redisSentinels: group.sentinels });
    const paused = new RedisLeaseStore({ connection, clock: new ManualClock() });
    const next = new RedisLeaseStore({ connection });
    const first = await acquire(paused, 'sentinels', { ttlMs: 1000 });
    await commit(first, 'first');
    const { process } = await group.master();
    await process.kill();
    // Kept by the replica, or lost with the master: the lease is free after its TTL in either case.
    const second = await acquire(next, 'sentinels', { ttlMs: 1000 });
    await commit(second, 'second');
    await expect(commit(first, 'first again')).rejects.toEqual(fenced);
    await Promise.all([paused, next].map((leases) => leases.close()));
  });

  test('a promoted replica that had the lease keeps it with its holder', async () => {
    await using primary = await startRedis();
    await using replica = await startRedis({ replicaOfPort: primary.port });
    const client = new Redis(replica.url);
    const holder = openPaused(primary.url);
    const first = await acquire(holder, 'followed');
    const atPrimary = new Redis(primary.url);
    await atPrimary.set('marker', '1');
    expect(await atPrimary.wait(1, 0)).toBe(1);
    await primary.process.kill();
    await client.replicaof('NO', 'ONE');
    const next = new RedisLeaseStore({ connection: replica.url });
    expect(await next.tryAcquire('followed', LEASE)).toBeUndefined();
    await commit(first, 'first');
    for (const connection of [client, atPrimary]) connection.disconnect();
    await Promise.all([holder, next].map((leases) => leases.close()));
  });

  test('a demoted primary refuses to give leases', async () => {
    await using redis = await startRedis();
    const leases = new RedisLeaseStore({ connection: redis.url });
    const client = new Redis(redis.url);
    await client.replicaof('127.0.0.1', '1');
    await expect(leases.tryAcquire('demoted', LEASE)).rejects.toMatchObject({
      code: 'lock.unavailable',
    });
    await client.replicaof('NO', 'ONE');
    expect((await leases.acquire('demoted', LEASE, never)).name).toBe('demoted');
    client.disconnect();
    await leases.close();
  });
});

test.for([
  ['at the same time', 0],
  ['with its clock set back by a year', -365 * 24 * 3_600_000],
] as const)('a restarted standalone process %s continues at once', async ([, shiftMs]) => {
  const startMs = Date.UTC(2030, 0, 1);
  const openAt = (nowMs: number): LeaseStore => {
    const clock = new ManualClock(nowMs);
    return new InProcessLeaseStore({ clock, records: new InProcessLeaseRecords(clock) });
  };
  const before = await acquire(openAt(startMs), 'standalone');
  await commit(before, 'before');
  const after = await acquire(openAt(startMs + shiftMs), 'standalone');
  await commit(after, 'after');
  await expect(commit(before, 'before')).rejects.toEqual(fenced);
});

test('in any history of acquisitions, lost data and commits, no older holder commits after a newer', async () => {
  await using redis = await startRedis();
  const client = new Redis(redis.url);
  const leases = openPaused(redis.url);
  const step = fc.oneof(
    fc.constant({ kind: 'acquire' as const }),
    fc.constant({ kind: 'forget' as const }),
    fc.record({ kind: fc.constant('commit' as const), holder: fc.nat({ max: 2 }) }),
  );
  let history = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
      const name = `history-${history++}`;
      const holders: Fence[] = [];
      const committed: number[] = [];
      for (const action of steps)
        if (action.kind === 'forget') await client.flushall();
        else if (action.kind === 'acquire') {
          const lease = await leases.tryAcquire(name, LEASE);
          if (lease !== undefined) holders.push(await takeFence(store, lease.name));
        } else {
          const holder = holders[action.holder];
          if (holder !== undefined && (await isAccepted(holder))) committed.push(action.holder);
        }
      expect(committed).toEqual(committed.toSorted((a, b) => a - b));
    }),
    propertySettings({ numRuns: 50 }),
  );
  client.disconnect();
  await leases.close();
});
