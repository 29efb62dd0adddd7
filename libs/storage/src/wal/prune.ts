import type { PruneLimits } from '../store.ts';

/** Facts about an entry that only grow along the log. */
export interface WalMark {
  readonly committedAtMs: number;
  /** Bytes of all operations up to this entry, counted from some point in the past. */
  readonly endBytes: number;
}

export const isPrunable = (
  sequence: number,
  { committedAtMs, endBytes }: WalMark,
  newest: WalMark,
  { maxAgeMs, maxBytes, followedTo = Number.POSITIVE_INFINITY }: PruneLimits,
  nowMs: number,
): boolean =>
  newest.endBytes - endBytes >= maxBytes ||
  (committedAtMs < nowMs - maxAgeMs && sequence <= followedTo);

/** The first sequence from `low` on for which `isKept` holds, given that it holds for `high`. */
export const findFirstKept = async (
  low: number,
  high: number,
  isKept: (sequence: number) => Promise<boolean>,
): Promise<number> => {
  if (low >= high) return high;
  const middle = Math.floor((low + high) / 2);
  return (await isKept(middle))
    ? findFirstKept(low, middle, isKept)
    : findFirstKept(middle + 1, high, isKept);
};
