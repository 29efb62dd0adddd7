/**
 * One count for several gateways, in Redis. While Redis does not answer, each gateway counts for itself:
 * a limit that protects must not become the outage.
 */
import { Redis } from 'ioredis';
import { type RateLimiterAbstract, RateLimiterRedis } from 'rate-limiter-flexible';
import { countInProcess } from './rate-limit.ts';

/** Maximum time that a request waits to be counted. */
const ANSWER_WITHIN_MS = 200;

export interface SharedCount {
  readonly counting: (limit: number) => RateLimiterAbstract;
  close(): void;
}

/** @param report called when Redis is lost; it is reconnected in the background */
export const openSharedCount = (url: string, report: (error: unknown) => void): SharedCount => {
  const redis = new Redis(url, {
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
