/** When work that has failed is tried again: the pauses double up to ten minutes, for about sixteen hours. */
const FIRST_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 600_000;
const MAX_ATTEMPTS = 100;

/**
 * @param attempts that have failed, at least one
 * @returns undefined when there is no further attempt
 */
export const pauseAfterMs = (attempts: number): number | undefined =>
  attempts >= MAX_ATTEMPTS
    ? undefined
    : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1));
