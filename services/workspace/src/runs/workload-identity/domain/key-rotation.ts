/** Which of the keys signs, and when keys come and go. */

interface Dated {
  readonly createdAtMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ROTATED_AFTER_MS = 30 * DAY_MS;
/** Others who keep the key set for a day know a key before it signs. */
const PUBLISHED_AHEAD_MS = DAY_MS;
/** A key stays published until the tokens that it has signed have expired everywhere. */
const PUBLISHED_AFTER_MS = DAY_MS;

const byAge = <T extends Dated>(keys: readonly T[]): readonly T[] =>
  [...keys].sort((a, b) => a.createdAtMs - b.createdAtMs);

const signsFrom = ({ createdAtMs }: Dated): number => createdAtMs + PUBLISHED_AHEAD_MS;

/** The newest key that was published for long enough; of the first ones, the oldest. */
export const signerAmong = <T extends Dated>(keys: readonly T[], nowMs: number): T | undefined => {
  const sorted = byAge(keys);
  return sorted.findLast((key) => signsFrom(key) <= nowMs) ?? sorted[0];
};

/** Keys without those that have not signed yet. */
export const keysInUse = <T extends Dated>(keys: readonly T[], nowMs: number): readonly T[] => {
  const signer = signerAmong(keys, nowMs);
  return keys.filter(
    ({ createdAtMs }) => signer !== undefined && createdAtMs <= signer.createdAtMs,
  );
};

/** The time at which a key would have been made that signs from now on. */
export const madeToSignAt = (nowMs: number): number => nowMs - PUBLISHED_AHEAD_MS;

/** A former key as one that was made before another. The first of all keys signs on its first day, before the others. */
export const olderThan =
  ({ createdAtMs }: Dated) =>
  <T extends Dated>(former: T): T => ({
    ...former,
    createdAtMs: Math.min(former.createdAtMs, createdAtMs - 1),
  });

export const isKeyDue = (keys: readonly Dated[], nowMs: number): boolean =>
  keys.every(({ createdAtMs }) => createdAtMs + ROTATED_AFTER_MS <= nowMs);

/** Keys of which no token is left. */
export const outlivedKeys = <T extends Dated>(keys: readonly T[], nowMs: number): readonly T[] => {
  const sorted = byAge(keys);
  return sorted.filter((_, index) => {
    const next = sorted[index + 1];
    return next !== undefined && signsFrom(next) + PUBLISHED_AFTER_MS <= nowMs;
  });
};
