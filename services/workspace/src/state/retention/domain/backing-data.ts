/**
 * The bytes of versions that are no longer current: withheld first, when they can still be restored, then
 * deleted.
 */
import type { RetentionLimits } from '../../../base/retention/domain/retention-policy.ts';

export const BACKING_DATA_ACTIONS = ['soft_delete', 'restore', 'permanently_delete'] as const;
export type BackingDataAction = (typeof BACKING_DATA_ACTIONS)[number];

/** The end of an action's addresses: as the API documents have it, and as the vendor's OpenAPI file has it. */
export const toActionNames = (action: BackingDataAction): readonly string[] => {
  const name = `${action}_backing_data`;
  return [name, name.replaceAll('_', '-')];
};

export const WITHHELD = 'backing_data_soft_deleted';
export const DELETED = 'backing_data_permanently_deleted';

/**
 * The status after an action; undefined where it is not allowed.
 * @param kept status of a version whose bytes are not withheld
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
/** How long withheld bytes can be restored. */
export const GRACE_MS = 7 * DAY_MS;

/**
 * Time from which the limits apply to a version created at `createdAtMs`: one day later when the policy sets
 * no days.
 */
export const reachedAtMs = ({ days }: RetentionLimits, createdAtMs: number): number =>
  createdAtMs + (days ?? 1) * DAY_MS;

interface AgedVersion {
  readonly status: string;
  readonly createdAtMs: number;
  /** Undefined while the bytes have never been withheld. */
  readonly withheldAtMs: number | undefined;
}

/** The action that the effective limits require for a version that is neither needed nor among the newest. */
export const decideRetention = (
  kept: string,
  { status, createdAtMs, withheldAtMs }: AgedVersion,
  limits: RetentionLimits,
  nowMs: number,
): BackingDataAction | undefined => {
  const endsAtMs = reachedAtMs(limits, createdAtMs);
  if (nowMs < endsAtMs) return undefined;
  if (status === kept) return 'soft_delete';
  // The days count from the withholding, so that a new or shortened policy deletes nothing that could not
  // have been restored.
  return status === WITHHELD && nowMs >= (withheldAtMs ?? endsAtMs) + GRACE_MS
    ? 'permanently_delete'
    : undefined;
};
