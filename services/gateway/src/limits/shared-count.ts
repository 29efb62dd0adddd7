/**
 * One count for several gateways, in Redis. While Redis does not answer, each gateway counts alone:
 * a protective limit must not itself cause an outage.
 */
import { type RedisAddress, toRedisConnection } from '@keelson/locks/redis';
import { Redis } from 'ioredis';
import { type RateLimiterAbstract, RateLimiterRedis } from 'rate-limiter-flexible';
import { countInProcess } from './rate-limit.ts';

/** Maximum time that a request waits to be counted. */
const ANSWER_WITHIN_MS = 200;

export interface SharedCount {
  readonly counting: (limit: number) => RateLimiterAbstract;
  close(): void;
}

/** @param report called when the connection to Redis is lost; it is restored in the background */
export const openSharedCount = (
  address: RedisAddress,
  report: (error: unknown) => void,
): SharedCount => {
  const { url, ...connection } = toRedisConnection(address);
  const redis = new Redis(url, {
    ...connection,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: ANSWER_WITHIN_MS,
  });
  redis.on('error', report);
  return {
    counting: (limit) =>
      new RateLimiterRedis({
        storeClient: redis,
        keyPrefix: 'keelson:rate',
        points: limit,
        duration: 1,
        insuranceLimiter: countInProcess(limit),
      }),
    close: () => redis.disconnect(),
  };
};
