/** Logins that fail in a row lock a user for a while, so that passwords cannot be tried out. */
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const lockoutShape = Type.Object({
  failures: Type.Number(),
  lastFailureMs: Type.Number(),
});
export type Lockout = Shaped<typeof lockoutShape>;

/** Failures in a row that lock a user. */
export const LOCKOUT_THRESHOLD = 5;
/** Time until a locked user may try again, and until failures are forgotten. */
export const LOCKOUT_MS = 15 * 60_000;

export const isLocked = (lockout: Lockout | undefined, nowMs: number): boolean =>
  lockout !== undefined &&
  lockout.failures >= LOCKOUT_THRESHOLD &&
  nowMs < lockout.lastFailureMs + LOCKOUT_MS;

/** One more failure; those before the last pause are forgotten. */
export const afterFailure = (lockout: Lockout | undefined, nowMs: number): Lockout => ({
  failures:
    lockout === undefined || nowMs >= lockout.lastFailureMs + LOCKOUT_MS ? 1 : lockout.failures + 1,
  lastFailureMs: nowMs,
});
