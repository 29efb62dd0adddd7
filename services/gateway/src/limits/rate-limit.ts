/** Requests per second of one caller, counted in this process unless another count is given. */
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

export interface RateDecision {
  readonly isAllowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

export interface RateLimit {
  /** The limit stated in response headers; undefined when there is none. */
  readonly perSecond: number | undefined;
  /** @param caller all tokens of one user share one name */
  count(caller: string): Promise<RateDecision>;
}

const FREE: RateDecision = { isAllowed: true, headers: {} };

/** Clients parse the reset time as a decimal number, and fail on anything else. */
const toHeaders = (limit: number, result: RateLimiterRes): Record<string, string> => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(Math.max(0, result.remainingPoints)),
  'x-ratelimit-reset': (Math.max(0, result.msBeforeNext) / 1000).toFixed(3),
});

/** A limiter in memory that allows `limit` in each second. */
export const countInProcess = (limit: number): RateLimiterAbstract =>
  new RateLimiterMemory({ points: limit, duration: 1 });

/** @param counting makes the limiter that counts up to the limit in each second */
export const createRateLimit = (
  limit: number | 'off',
  counting: (limit: number) => RateLimiterAbstract = countInProcess,
): RateLimit => {
  if (limit === 'off') return { perSecond: undefined, count: () => Promise.resolve(FREE) };
  const limiter = counting(limit);
  return {
    perSecond: limit,
    count: async (caller) => {
      try {
        return { isAllowed: true, headers: toHeaders(limit, await limiter.consume(caller)) };
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        return { isAllowed: false, headers: toHeaders(limit, refused) };
      }
    },
  };
};
