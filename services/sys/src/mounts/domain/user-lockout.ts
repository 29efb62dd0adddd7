/** When failed logins lock a user of an auth method, as a mount is tuned. */
import { KeelsonError } from '@keelson/errors';
import type { MountConfig, MountConfigChanges } from './mount.ts';

/** When failed logins lock a user; the values in force. */
export interface UserLockout {
  readonly disabled: boolean;
  /** Failures in a row that lock a user. */
  readonly threshold: number;
  readonly durationSeconds: number;
  /** Time without a failure after which failures are forgotten. */
  readonly counterResetSeconds: number;
}

/** Methods with passwords or secret ids, which can be tried out. */
const LOCKING_TYPES = ['approle', 'ldap', 'userpass'];

const DEFAULTS = { threshold: 5, durationSeconds: 900, counterResetSeconds: 900 } as const;

export const locksUsers = (type: string): boolean => LOCKING_TYPES.includes(type);

export const effectiveUserLockout = (config: MountConfig): UserLockout => ({
  disabled: config.userLockoutDisabled,
  threshold: config.userLockoutThreshold || DEFAULTS.threshold,
  durationSeconds: config.userLockoutDurationSeconds || DEFAULTS.durationSeconds,
  counterResetSeconds: config.userLockoutCounterResetSeconds || DEFAULTS.counterResetSeconds,
});

export const isUserLockoutTuned = (config: MountConfig): boolean =>
  config.userLockoutDisabled ||
  config.userLockoutThreshold +
    config.userLockoutDurationSeconds +
    config.userLockoutCounterResetSeconds >
    0;

/** @throws KeelsonError `request.invalid` for settings of a mount that locks nobody */
export const requireLockingType = (type: string, changes: MountConfigChanges): void => {
  const given = Object.entries({
    lockout_threshold: changes.userLockoutThreshold,
    lockout_duration: changes.userLockoutDurationSeconds,
    lockout_counter_reset_duration: changes.userLockoutCounterResetSeconds,
    lockout_disable: changes.userLockoutDisabled,
  }).find(([, value]) => value !== undefined);
  if (given !== undefined && !locksUsers(type))
    throw new KeelsonError('request.invalid', {
      text: `tuning of user lockout configuration for auth type "${type}" not allowed: ${given[0]} is for ${LOCKING_TYPES.join(', ')}`,
    });
};
