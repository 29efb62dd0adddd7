/** One count for the gateways of several threads of a process, kept by one of them. */
import { LRUCache } from 'lru-cache';
import { RateLimiterRes } from 'rate-limiter-flexible';
import { type Counting, countInProcess, type RateWindow } from '../limits/rate-limit.ts';

/** The state of a caller after a request; can be posted to another thread. */
export interface CountedRequest {
  readonly isAllowed: boolean;
  readonly remainingPoints: number;
  readonly msBeforeNext: number;
}

export type CountRequest = (window: RateWindow, caller: string) => Promise<CountedRequest>;

/** Limiters in use. One that so many others have replaced starts from zero when its window is used again. */
const MAX_LIMITERS = 1000;

/** Counts for this thread and, by `count`, for others. Windows of one name and one size are one. */
export const createThreadCounts = (): {
  readonly counting: Counting;
  readonly count: CountRequest;
} => {
  const limiters = new LRUCache<string, ReturnType<Counting>>({ max: MAX_LIMITERS });
  const counting: Counting = (window) => {
    const { name, requests, seconds, blockSeconds } = window;
    const key = JSON.stringify([name, requests, seconds, blockSeconds]);
    const known = limiters.get(key);
    if (known !== undefined) return known;
    const limiter = countInProcess(window);
    limiters.set(key, limiter);
    return limiter;
  };
  const count: CountRequest = async (window, caller) => {
    try {
      return { isAllowed: true, ...pointsOf(await counting(window).consume(caller)) };
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      return { isAllowed: false, ...pointsOf(refused) };
    }
  };
  return { counting, count };
};

const pointsOf = ({ remainingPoints, msBeforeNext }: RateLimiterRes) => ({
  remainingPoints,
  msBeforeNext,
});

/** Counts by another thread. */
export const countThrough =
  (count: CountRequest): Counting =>
  (window) => ({
    consume: async (caller) => {
      const { isAllowed, remainingPoints, msBeforeNext } = await count(window, String(caller));
      const counted = new RateLimiterRes(remainingPoints, msBeforeNext);
      // As the limiters of the library refuse.
      return isAllowed ? counted : Promise.reject<RateLimiterRes>(counted);
    },
  });
