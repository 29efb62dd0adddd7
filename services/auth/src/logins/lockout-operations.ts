/** Counts failed logins of the methods with passwords and secret ids, and refuses logins of locked users. */
import { createHash } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import type { MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { Store, Transaction } from '@keelson/storage';
import {
  afterFailure,
  isForgotten,
  isLocked,
  type Lockout,
  type UserLockout,
} from './domain/lockout.ts';
import { lockoutRecords } from './lockout-records.ts';

export interface LockoutContext {
  readonly store: Store;
  readonly clock: Clock;
}

export interface Verdict<T> {
  /** Undefined if the credentials are wrong. */
  readonly login: T | undefined;
  /** Whether the mount has such a user. */
  readonly isKnown: boolean;
}

/** Names that no user has, with failed logins. More than these are a flood, in which the oldest is forgotten. */
const MAX_UNKNOWN = 4096;

const UNTUNED: UserLockout = {
  disabled: false,
  threshold: 5,
  durationSeconds: 900,
  counterResetSeconds: 900,
};

const keyOf = (name: string): string => createHash('sha256').update(name).digest('hex');

const settingsOf = ({ userLockout }: Pick<Mount, 'userLockout'>): UserLockout =>
  userLockout ?? UNTUNED;

const refuseLocked = (): never => {
  throw new KeelsonError('sys.permission_denied');
};

/** Removes what is forgotten, and the oldest of the unknown names if there are still too many. */
const makeRoom = async (
  { store, clock }: LockoutContext,
  mount: Mount,
  capacity: number,
): Promise<void> => {
  const records = lockoutRecords(mount);
  const nowMs = clock.nowMs();
  const [forgotten, kept] = [[] as string[], [] as (readonly [string, Lockout])[]];
  for (const [key, lockout] of await records.entries(store))
    if (isForgotten(lockout, settingsOf(mount), nowMs)) forgotten.push(key);
    else if (!lockout.isKnown) kept.push([key, lockout]);
  const oldest = kept
    .toSorted(([, left], [, right]) => left.lastFailureMs - right.lastFailureMs)
    .slice(0, Math.max(0, kept.length - capacity))
    .map(([key]) => key);
  if (forgotten.length + oldest.length === 0) return;
  await store.transact((tx) => {
    for (const key of [...forgotten, ...oldest]) records.delete(tx, key);
    return Promise.resolve();
  });
};

/** Removes failures that count no more. */
export const tidyLockouts = (context: LockoutContext, mount: Mount): Promise<void> =>
  makeRoom(context, mount, MAX_UNKNOWN);

const countFailure = async (
  context: LockoutContext,
  mount: Mount,
  name: string,
  isKnown: boolean,
): Promise<void> => {
  const { store, clock } = context;
  const records = lockoutRecords(mount);
  const key = keyOf(name);
  const isNew = (await records.find(store, key)) === undefined;
  const isFull =
    isNew && (await records.keys(store, [], { limit: MAX_UNKNOWN })).length === MAX_UNKNOWN;
  if (isFull) await makeRoom(context, mount, MAX_UNKNOWN - 1);
  await store.transact(async (tx) => {
    const nowMs = clock.nowMs();
    const before = await records.find(tx, key);
    if (isLocked(before, settingsOf(mount), nowMs)) return refuseLocked();
    records.write(tx, [key], afterFailure(before, settingsOf(mount), { name, isKnown, nowMs }));
    return undefined;
  });
};

/**
 * Verifies a login unless the user is locked. Names that no user has are counted as well, so that neither the answer
 * nor the work says which users exist.
 * @param name of the alias that the login would have
 * @param verify throws if the credentials could not be verified, which is no failure of the user
 * @param isRandom whether nobody can guess the credentials, so that right ones prove themselves even when failures at
 *   the same time have locked the user
 * @returns undefined if the credentials are wrong
 * @throws KeelsonError `sys.permission_denied` for a locked user
 */
export const verifyUnlessLocked = async <T>(
  context: LockoutContext,
  mount: Mount,
  name: string,
  verify: () => Promise<Verdict<T>>,
  { isRandom = false }: { readonly isRandom?: boolean } = {},
): Promise<T | undefined> => {
  const { store, clock } = context;
  const settings = settingsOf(mount);
  if (settings.disabled) return (await verify()).login;
  const current = () => lockoutRecords(mount).find(store, keyOf(name));
  if (isLocked(await current(), settings, clock.nowMs())) return refuseLocked();
  const { login, isKnown } = await verify();
  if (login === undefined) {
    await countFailure(context, mount, name, isKnown);
    return undefined;
  }
  // Guesses that were under way at the same time may have locked the user.
  const before = await current();
  if (isLocked(before, settings, clock.nowMs())) return isRandom ? login : refuseLocked();
  if (before !== undefined) await unlockUser(context, mount, name);
  return login;
};

/** Names of the users that are locked, sorted. */
export const listLockedUsers = async (
  { store, clock }: LockoutContext,
  mount: Mount,
): Promise<string[]> => {
  const nowMs = clock.nowMs();
  const settings = settingsOf(mount);
  if (settings.disabled) return [];
  return (await lockoutRecords(mount).entries(store))
    .flatMap(([, lockout]) => (isLocked(lockout, settings, nowMs) ? [lockout.name] : []))
    .toSorted();
};

/** Forgets the failures of a user, in the transaction that removes it for instance. */
export const forgetFailures = (tx: Transaction, mount: MountScope, name: string): void =>
  lockoutRecords(mount).delete(tx, keyOf(name));

/** Succeeds also for a user that is not locked. */
export const unlockUser = (
  { store }: LockoutContext,
  mount: MountScope,
  name: string,
): Promise<void> =>
  store.transact((tx) => {
    forgetFailures(tx, mount, name);
    return Promise.resolve();
  });
