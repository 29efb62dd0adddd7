/**
 * One count for several gateways, in Redis. While Redis does not answer, each gateway counts alone:
 * a protective limit must not itself cause an outage.
 */
import { type RedisAddress, toRedisConnection } from '@keelson/locks/redis';
import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { type Counting, countInProcess } from './rate-limit.ts';

/** Maximum time that a request waits to be counted. */
const ANSWER_WITHIN_MS = 200;

export interface SharedCount {
  readonly counting: Counting;
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
    counting: (window) =>
      new RateLimiterRedis({
        storeClient: redis,
        keyPrefix: `keelson:rate:${window.name}`,
        points: window.requests,
        duration: window.seconds,
        blockDuration: window.blockSeconds,
        insuranceLimiter: countInProcess(window),
      }),
    close: () => redis.disconnect(),
  };
};
