/** When a challenge is tried again, and for how long (RFC 8555 §8.2 leaves both to the server). */
import type { ProblemType } from '../../problems/problem.ts';

/** Delays before the second and later attempts when the server could not be reached. */
export const RETRY_DELAYS_MS = [1000, 2000, 3000, 5000, 8000] as const;

/**
 * Delay before the only further attempt after a wrong answer: the proof may not have reached all servers
 * yet.
 */
export const WRONG_ANSWER_DELAY_MS = 3000;

/** Longest time from the first attempt to the end of the last. */
export const TRYING_TIME_MS = 30_000;

export interface Trying {
  /** Attempts made before. */
  readonly attempts: number;
  /** When the first of them began; undefined: there was none. */
  readonly triedSinceMs?: number | undefined;
}

const isWrongAnswer = (type: ProblemType): boolean =>
  type === 'incorrectResponse' || type === 'tls';

/**
 * How long to wait after an attempt that may succeed later.
 * @param triedSinceMs when the first attempt began
 * @returns undefined where the attempt was the last one
 */
export const delayBeforeRetry = (
  type: ProblemType,
  { attempts, triedSinceMs }: { readonly attempts: number; readonly triedSinceMs: number },
  nowMs: number,
): number | undefined => {
  const delayMs = isWrongAnswer(type)
    ? [WRONG_ANSWER_DELAY_MS][attempts]
    : RETRY_DELAYS_MS[attempts];
  return delayMs !== undefined && nowMs + delayMs < triedSinceMs + TRYING_TIME_MS
    ? delayMs
    : undefined;
};

/**
 * How long an attempt may take. One that begins late, because its replica ended or there was no slot, is
 * the last one and has the whole time of an attempt.
 */
export const attemptLimitMs = (
  { triedSinceMs }: Trying,
  wholeAttemptMs: number,
  nowMs: number,
): number => {
  if (triedSinceMs === undefined) return wholeAttemptMs;
  const leftMs = triedSinceMs + TRYING_TIME_MS - nowMs;
  return leftMs > 0 ? Math.min(leftMs, wholeAttemptMs) : wholeAttemptMs;
};
