import { describe, expect, test } from 'vitest';
import { attemptLimitMs, delayBeforeRetry } from './attempt-schedule.ts';

const BEGUN_MS = 1_000_000;
const ATTEMPT_MS = 20_000;

/**
 * Start and end of each attempt, in seconds, if each takes `tookMs` or as long as it is allowed to.
 */
const attemptsOf = (type: 'connection' | 'incorrectResponse' | 'tls' | 'dns', tookMs: number) => {
  const seconds: (readonly [number, number])[] = [];
  let nowMs = BEGUN_MS;
  for (let attempts = 0; ; attempts += 1) {
    const trying = { attempts, ...(attempts > 0 && { triedSinceMs: BEGUN_MS }) };
    const endMs = nowMs + Math.min(tookMs, attemptLimitMs(trying, ATTEMPT_MS, nowMs));
    seconds.push([(nowMs - BEGUN_MS) / 1000, (endMs - BEGUN_MS) / 1000]);
    const delayMs = delayBeforeRetry(type, { attempts, triedSinceMs: BEGUN_MS }, endMs);
    if (delayMs === undefined) return seconds;
    nowMs = endMs + delayMs;
  }
};

describe('a challenge', () => {
  test.for(['incorrectResponse', 'tls'] as const)(
    'that is answered wrongly (%s) is tried once more, within five seconds',
    (type) => {
      expect(attemptsOf(type, 0)).toEqual([
        [0, 0],
        [3, 3],
      ]);
    },
  );

  test.for(['connection', 'dns'] as const)(
    'that cannot be reached (%s) is retried with increasing delays',
    (type) => {
      expect(attemptsOf(type, 0).map(([begun]) => begun)).toEqual([0, 1, 3, 6, 11, 19]);
    },
  );

  test('whose server uses all the time there is ends after thirty seconds', () => {
    expect(attemptsOf('connection', Number.POSITIVE_INFINITY)).toEqual([
      [0, 20],
      [21, 30],
    ]);
    expect(attemptsOf('connection', 7000)).toEqual([
      [0, 7],
      [8, 15],
      [17, 24],
      [27, 30],
    ]);
    expect(attemptsOf('tls', Number.POSITIVE_INFINITY)).toEqual([
      [0, 20],
      [23, 30],
    ]);
  });

  test('whose next attempt is late, because its replica ended, gets that one attempt', () => {
    const nowMs = BEGUN_MS + 45_000;
    const trying = { attempts: 1, triedSinceMs: BEGUN_MS };
    expect(attemptLimitMs(trying, ATTEMPT_MS, nowMs)).toBe(ATTEMPT_MS);
    expect(delayBeforeRetry('connection', trying, nowMs + 100)).toBeUndefined();
  });
});
