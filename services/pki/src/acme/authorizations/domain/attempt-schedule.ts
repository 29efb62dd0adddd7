/** The schedule of attempts at a challenge (RFC 8555 §8.2 leaves it to the server). */
import type { ProblemType } from '../../problems/problem.ts';

/** Delays before the second and later attempts when the server could not be reached. */
export const RETRY_DELAYS_MS = [1000, 2000, 3000, 5000, 8000] as const;

/**
 * Delay before the single retry after a wrong answer: the proof may not have reached all servers
 * yet.
 */
export const WRONG_ANSWER_DELAY_MS = 3000;

/** Maximum time from the start of the first attempt to the end of the last. */
export const TRYING_TIME_MS = 30_000;

export interface Trying {
  /** Number of earlier attempts. */
  readonly attempts: number;
  /** When the first of them began; undefined if there was none. */
  readonly triedSinceMs?: number | undefined;
}

const isWrongAnswer = (type: ProblemType): boolean =>
  type === 'incorrectResponse' || type === 'tls';

/**
 * The delay after a failed attempt that may succeed later.
 * @param triedSinceMs when the first attempt began
 * @returns undefined if that attempt was the last one
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
 * Time limit of an attempt. One that begins late, because a replica failed or no slot was free, is
 * the last one and has the full time of an attempt.
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
