/** When something that another system did not accept is tried again. */

const PAUSES_MS = [10_000, 60_000, 300_000, 1_800_000, 7_200_000] as const;

/**
 * Milliseconds before the next attempt.
 * @param attempts made so far. @returns undefined if there is no further attempt
 */
export const pauseAfter = (attempts: number): number | undefined => PAUSES_MS[attempts - 1];
