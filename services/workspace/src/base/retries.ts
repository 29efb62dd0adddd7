/** Pauses between attempts at stored work that another system did not accept. */

/** Pauses that grow by a factor, up to a longest one. */
export interface RetrySchedule {
  readonly firstPauseMs: number;
  readonly factor: number;
  readonly longestPauseMs: number;
  /** Work that has failed this often is given up. */
  readonly maxAttempts: number;
}

/**
 * Six attempts in less than three hours. Later, a notification or an invitation is worth little, and the
 * ones after it in the queue would have to wait for it; each attempt reaches a system that a person operates.
 */
export const MESSAGE_RETRIES: RetrySchedule = {
  firstPauseMs: 10_000,
  factor: 6,
  longestPauseMs: 7_200_000,
  maxAttempts: 6,
};

/**
 * Every ten minutes for about sixteen hours: a workspace is not up to date with its repository until the work
 * is done, and a provider's outage may last a night.
 */
export const REPOSITORY_RETRIES: RetrySchedule = {
  firstPauseMs: 5_000,
  factor: 2,
  longestPauseMs: 600_000,
  maxAttempts: 100,
};

/**
 * Milliseconds before the next attempt.
 * @param attempts that have failed, at least one
 * @returns undefined if there is no further attempt
 */
export const pauseAfter = (
  { firstPauseMs, factor, longestPauseMs, maxAttempts }: RetrySchedule,
  attempts: number,
): number | undefined =>
  attempts >= maxAttempts
    ? undefined
    : Math.min(longestPauseMs, firstPauseMs * factor ** (attempts - 1));
