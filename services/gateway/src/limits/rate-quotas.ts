/** Rates of requests that operators limit by path (`sys/quotas`): sys names the quota, and the gateway counts. */
import type { RateQuota } from '@keelson/proto/sys/v1/access';
import { LRUCache } from 'lru-cache';
import { clientNetwork } from './client-network.ts';
import {
  type Counting,
  createRateLimit,
  type RateDecision,
  type RateLimit,
  type RateWindow,
} from './rate-limit.ts';

/** Limiters in use. One that so many others have replaced starts from zero when its quota is found again. */
const MAX_LIMITERS = 2000;

/**
 * Whole requests in whole seconds, which is how they are counted: a rate of less than one request in its interval is
 * one request in a longer interval.
 */
const toWindow = ({ name, rate, intervalSeconds, blockSeconds }: RateQuota): RateWindow => ({
  // A quota that is changed counts from zero, also where gateways share the count.
  name: `quota ${name} ${rate} ${intervalSeconds} ${blockSeconds}`,
  requests: Math.max(1, Math.floor(rate)),
  seconds: Math.ceil(rate < 1 ? intervalSeconds / rate : intervalSeconds),
  blockSeconds,
});

export interface RateQuotas {
  count(quota: RateQuota, address: string): Promise<RateDecision>;
}

/** @param counting makes the limiter that counts up to a limit */
export const createRateQuotas = (counting?: Counting): RateQuotas => {
  const limits = new LRUCache<string, RateLimit>({ max: MAX_LIMITERS });
  const limitOf = (quota: RateQuota): RateLimit => {
    const window = toWindow(quota);
    let limit = limits.get(window.name);
    if (limit === undefined) {
      limit = createRateLimit(window, counting);
      limits.set(window.name, limit);
    }
    return limit;
  };
  return { count: (quota, address) => limitOf(quota).count(clientNetwork(address)) };
};
