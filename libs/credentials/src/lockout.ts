/** Logins that fail in a row lock a user for a while, so that passwords cannot be tried out. */
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** When failures lock a user, as its mount is tuned. */
export interface UserLockout {
  readonly disabled: boolean;
  /** Failures in a row that lock a user. */
  readonly threshold: number;
  readonly durationSeconds: number;
  /** Time without a failure after which failures are forgotten. */
  readonly counterResetSeconds: number;
}

export const lockoutShape = Type.Object({
  /** Name of the alias that logins of the user have. */
  name: Type.String(),
  failures: Type.Number(),
  lastFailureMs: Type.Number(),
});
export type Lockout = Shaped<typeof lockoutShape>;

/** Earlier versions of the record said whether there was such a user. */
export const LOCKOUT_UPGRADES = {
  2: {
    up: (older: Readonly<Record<string, unknown>>) => {
      const { isKnown: _, ...lockout } = older;
      return lockout;
    },
    down: (lockout: object) => ({ ...lockout, isKnown: true }),
  },
};

export const isLocked = (
  lockout: Lockout | undefined,
  { threshold, durationSeconds }: UserLockout,
  nowMs: number,
): boolean =>
  lockout !== undefined &&
  lockout.failures >= threshold &&
  nowMs < lockout.lastFailureMs + durationSeconds * 1000;

/** Whether the failures count no more: the user is not locked, and would begin again with the next failure. */
export const isForgotten = (lockout: Lockout, settings: UserLockout, nowMs: number): boolean =>
  !isLocked(lockout, settings, nowMs) &&
  (lockout.failures >= settings.threshold ||
    nowMs >= lockout.lastFailureMs + settings.counterResetSeconds * 1000);

/** One more failure; those that are forgotten do not count. */
export const afterFailure = (
  before: Lockout | undefined,
  settings: UserLockout,
  { name, nowMs }: Pick<Lockout, 'name'> & { readonly nowMs: number },
): Lockout => ({
  name,
  failures: before === undefined || isForgotten(before, settings, nowMs) ? 1 : before.failures + 1,
  lastFailureMs: nowMs,
});
