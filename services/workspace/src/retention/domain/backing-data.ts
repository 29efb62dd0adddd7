/**
 * The bytes behind versions that are no longer current: withheld first, so that they can be given back,
 * then deleted.
 */
import type { RetentionLimits } from './retention-policy.ts';

export const BACKING_DATA_ACTIONS = ['soft_delete', 'restore', 'permanently_delete'] as const;
export type BackingDataAction = (typeof BACKING_DATA_ACTIONS)[number];

export const WITHHELD = 'backing_data_soft_deleted';
export const DELETED = 'backing_data_permanently_deleted';

/**
 * The status after an action; undefined where it is not allowed.
 * @param kept the status of a version whose bytes are there
 */
export const nextStatus = <Kept extends string>(
  kept: Kept,
  status: string,
  action: BackingDataAction,
): Kept | typeof WITHHELD | typeof DELETED | undefined => {
  switch (action) {
    case 'soft_delete':
      return status === kept ? WITHHELD : undefined;
    case 'restore':
      return status === WITHHELD ? kept : undefined;
    case 'permanently_delete':
      return status === WITHHELD ? DELETED : undefined;
  }
};

export const DAY_MS = 24 * 60 * 60 * 1000;
/** Withheld bytes can be given back for as long. */
export const GRACE_MS = 7 * DAY_MS;

/** When limits have reached what was made then; a policy without days begins with the first one. */
export const reachedAtMs = ({ days }: RetentionLimits, createdAtMs: number): number =>
  createdAtMs + (days ?? 1) * DAY_MS;

interface AgedVersion {
  readonly status: string;
  readonly createdAtMs: number;
  /** Undefined: with the end of the policy's days, as versions of earlier releases do not tell. */
  readonly withheldAtMs: number | undefined;
}

/** What the limits in force say of a version that nothing needs, and that is not among the newest. */
export const decideRetention = (
  kept: string,
  { status, createdAtMs, withheldAtMs }: AgedVersion,
  limits: RetentionLimits,
  nowMs: number,
): BackingDataAction | undefined => {
  const endsAtMs = reachedAtMs(limits, createdAtMs);
  if (nowMs < endsAtMs) return undefined;
  if (status === kept) return 'soft_delete';
  // A policy that comes late, or a shorter one, takes nothing away that could not be given back.
  return status === WITHHELD && nowMs >= (withheldAtMs ?? endsAtMs) + GRACE_MS
    ? 'permanently_delete'
    : undefined;
};
