/**
 * Durations of requests, counted by slots. Counts of several processes add up, from which quantiles follow; means
 * would hide the slow requests that people wait for.
 */

/** Upper bounds of the slots; a last slot has what is longer. */
export const DURATION_BOUNDS_MS = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10_000] as const;

/** The slot of a duration. */
export const durationSlot = (ms: number): number => {
  const slot = DURATION_BOUNDS_MS.findIndex((bound) => ms <= bound);
  return slot === -1 ? DURATION_BOUNDS_MS.length : slot;
};

/**
 * The duration that a part of the requests did not exceed, as far as the slots tell; null without requests.
 * @param counts requests of each slot
 * @param part 0.95 for 95 % of the requests
 */
export const quantileMs = (counts: readonly number[], part: number): number | null => {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const wanted = total * part;
  let before = 0;
  for (const [slot, count] of counts.entries()) {
    if (before + count >= wanted && count > 0) {
      const from = slot === 0 ? 0 : (DURATION_BOUNDS_MS[slot - 1] ?? 0);
      // Nothing is known about durations beyond the last bound.
      const to = DURATION_BOUNDS_MS[slot] ?? from;
      return Math.round(from + ((to - from) * (wanted - before)) / count);
    }
    before += count;
  }
  return DURATION_BOUNDS_MS.at(-1) ?? null;
};
