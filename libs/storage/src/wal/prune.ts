/**
 * What of the log is kept. Age gives way to followers: an entry one of them has not read stays. Size does
 * not: a follower that is gone for good must not fill the disk, and one that comes back too late is
 * refused with `storage.wal_pruned` and compares Merkle trees instead. The newest entry always stays.
 */
export interface PruneLimits {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
  /** Position of the follower furthest behind; absent: nobody follows. */
  readonly followedTo?: number;
}

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
