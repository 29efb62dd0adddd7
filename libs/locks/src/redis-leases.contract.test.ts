import { type RedisServer, startRedis } from '@keelson/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';
import { registerLeaseContract } from './leases.contract.ts';
import { RedisLeaseStore } from './redis-lease-store.ts';

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis[Symbol.asyncDispose]());

registerLeaseContract(async () => ({
  openStore: (options) => new RedisLeaseStore({ ...options, connection: redis.url }),
  async [Symbol.asyncDispose]() {
    const client = new Redis(redis.url);
    await client.flushall();
    client.disconnect();
  },
}));
