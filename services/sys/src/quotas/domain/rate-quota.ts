/** Limits on the rate of requests, which an operator sets by path. */
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const rateQuotaShape = Type.Object({
  name: Type.String(),
  namespaceId: Type.String(),
  /** Absent for a quota of a whole namespace. */
  mountUuid: Type.Optional(Type.String()),
  /** Path below the mount; "" for all of it. A "*" at its end stands for any text. */
  below: Type.String(),
  /** In lower case; absent for a quota that is not of the logins with a role. */
  role: Type.Optional(Type.String()),
  /** Requests in an interval. */
  rate: Type.Number(),
  intervalSeconds: Type.Number(),
  /** Time for which an address that has reached the limit is refused; 0 means until the interval ends. */
  blockSeconds: Type.Number(),
  /** A quota of a namespace also applies to those below it that have none. */
  isInheritable: Type.Boolean(),
});
export type RateQuota = Shaped<typeof rateQuotaShape>;

/** Where a quota applies. */
export type QuotaPlace = Pick<RateQuota, 'namespaceId' | 'mountUuid' | 'below' | 'role'>;

export const quotaSettingsShape = Type.Object({
  /** Paths that no quota limits, each relative to its namespace. A "*" at the end stands for any text. */
  exemptPaths: Type.Array(Type.String()),
  /** Requests that a quota refuses are recorded by audit devices. */
  auditsRefusals: Type.Boolean(),
  /** Answers state the limit that applies to them. */
  statesLimits: Type.Boolean(),
});
export type QuotaSettings = Shaped<typeof quotaSettingsShape>;

/** So that a cluster whose quotas are too small can still be unsealed, watched and repaired. */
export const DEFAULT_QUOTA_SETTINGS: QuotaSettings = {
  exemptPaths: [
    'sys/generate-root/attempt',
    'sys/generate-root/update',
    'sys/health',
    'sys/seal-status',
    'sys/unseal',
  ],
  auditsRefusals: false,
  statesLimits: false,
};

export const samePlace = (one: QuotaPlace, other: QuotaPlace): boolean =>
  one.namespaceId === other.namespaceId &&
  one.mountUuid === other.mountUuid &&
  one.below === other.below &&
  one.role === other.role;
