/** Requests of one caller in a time, counted in this process unless another count is given. */
import { setTimeout as pause } from 'node:timers/promises';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

export interface RateDecision {
  readonly isAllowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** Time until the caller may make as many requests as the limit allows. */
  readonly resetSeconds: number;
}

export interface RateLimit {
  /** The limit stated in response headers; undefined when there is none. */
  readonly limit: number | undefined;
  /** @param caller all tokens of one user share one name */
  count(caller: string): Promise<RateDecision>;
}

/** A refusal takes so long, unless the limit ends before: whoever asks again at once occupies nobody with refusals. */
const REFUSAL_MS = 100;

const FREE: RateDecision = { isAllowed: true, headers: {}, resetSeconds: 0 };

const toDecision = (
  isAllowed: boolean,
  limit: number,
  { remainingPoints, msBeforeNext }: Pick<RateLimiterRes, 'msBeforeNext' | 'remainingPoints'>,
): RateDecision => {
  const resetSeconds = Math.max(0, msBeforeNext) / 1000;
  return {
    isAllowed,
    headers: {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(Math.max(0, remainingPoints)),
      // Clients parse it as a decimal number, and fail on anything else.
      'x-ratelimit-reset': resetSeconds.toFixed(3),
    },
    resetSeconds,
  };
};

/** How many requests of one caller are allowed in how much time. */
export interface RateWindow {
  /** Counts of the same name are one; different names never meet. */
  readonly name: string;
  readonly requests: number;
  readonly seconds: number;
  /** Time for which a caller that has reached the limit is refused; 0 means until the time is over. */
  readonly blockSeconds: number;
}

export type Counting = (window: RateWindow) => Pick<RateLimiterAbstract, 'consume'>;

/** The limit of a setting. */
export const eachSecond = (name: string, requests: number | 'off'): RateWindow | undefined =>
  requests === 'off' ? undefined : { name, requests, seconds: 1, blockSeconds: 0 };

/** A limiter in memory. */
export const countInProcess = ({ requests, seconds, blockSeconds }: RateWindow) =>
  new RateLimiterMemory({ points: requests, duration: seconds, blockDuration: blockSeconds });

/** @param window undefined allows everything */
export const createRateLimit = (
  window: RateWindow | undefined,
  counting: Counting = countInProcess,
): RateLimit => {
  if (window === undefined) return { limit: undefined, count: () => Promise.resolve(FREE) };
  const limiter = counting(window);
  const { requests } = window;
  return {
    limit: requests,
    count: async (caller) => {
      try {
        return toDecision(true, requests, await limiter.consume(caller));
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        const { msBeforeNext, remainingPoints } = refused;
        const waitedMs = Math.min(REFUSAL_MS, Math.max(0, msBeforeNext));
        await pause(waitedMs);
        const left = { msBeforeNext: msBeforeNext - waitedMs, remainingPoints };
        return toDecision(false, requests, left);
      }
    },
  };
};
