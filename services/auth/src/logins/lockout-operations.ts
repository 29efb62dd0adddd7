/** The failed logins of a mount, of the methods with passwords and secret ids. */
import type { Clock } from '@keelson/clock';
import { Lockouts, type UserLockout } from '@keelson/credentials';
import type { MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { Store } from '@keelson/storage';
import { lockoutRecords } from './lockout-records.ts';

export interface LockoutContext {
  readonly store: Store;
  readonly clock: Clock;
  /** Names with failed logins that a mount remembers; as many as `Lockouts` say if absent. */
  readonly rememberedNames?: number | undefined;
}

const UNTUNED: UserLockout = {
  disabled: false,
  threshold: 5,
  durationSeconds: 900,
  counterResetSeconds: 900,
};

const refuse = (): never => {
  throw new KeelsonError('sys.permission_denied');
};

/** @param mount as it is tuned */
export const lockoutsAt = (
  { store, clock, rememberedNames }: LockoutContext,
  mount: MountScope & Pick<Mount, 'userLockout'>,
): Lockouts =>
  new Lockouts({
    store,
    clock,
    records: lockoutRecords(mount),
    settings: mount.userLockout ?? UNTUNED,
    refuse,
    capacity: rememberedNames,
  });
