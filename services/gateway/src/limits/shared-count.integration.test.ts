import { startRedis } from '@keelson/testkit';
import { expect, test, vi } from 'vitest';
import { createRateLimit, eachSecond } from './rate-limit.ts';
import { openSharedCount } from './shared-count.ts';

test('several gateways share one limit, and each counts alone while Redis is down', async () => {
  const redis = await startRedis();
  const counts = [1, 2].map(() =>
    openSharedCount({ redisUrl: redis.url, redisSentinels: [] }, () => undefined),
  );
  const [first, second] = counts.map(({ counting }) =>
    createRateLimit(eachSecond('user', 5), counting),
  );
  if (first === undefined || second === undefined) throw new Error('two gateways');
  const remaining = async (gateway: typeof first): Promise<number> =>
    Number((await gateway.count('user 1')).headers['x-ratelimit-remaining']);

  // Until both are connected, and in one second of Redis, they see each other's requests.
  await vi.waitFor(
    async () => expect([await remaining(first), await remaining(second)]).toEqual([4, 3]),
    { timeout: 20_000, interval: 1_100 },
  );
  await redis[Symbol.asyncDispose]();
  const alone = await Promise.all(Array.from({ length: 6 }, () => first.count('user 2')));
  expect(alone.filter(({ isAllowed }) => isAllowed)).toHaveLength(5);
  for (const count of counts) count.close();
});
