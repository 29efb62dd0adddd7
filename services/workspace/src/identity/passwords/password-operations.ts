/** Passwords of users, with which they sign in where the site permits it. */
import { hashPassword, Lockouts, verifyPassword } from '@keelson/credentials';
import { KeelsonError } from '@keelson/errors';
import { refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import {
  findSignInSettings,
  passwordRecords,
  signInLockouts,
} from '../model/credential-records.ts';
import { normalizedEmail } from '../model/domain/organization.ts';
import { type User, userRecords } from '../model/user-records.ts';
import { endSessionsOf } from '../tokens/session-operations.ts';
import { normalizedPassword, passwordFaults } from './domain/password.ts';

const LOCKED_MINUTES = 15;
const SETTINGS = {
  disabled: false,
  threshold: 5,
  durationSeconds: LOCKED_MINUTES * 60,
  counterResetSeconds: LOCKED_MINUTES * 60,
};

const refuseLocked = (): never => {
  throw new KeelsonError('workspace.sign_in_locked', { minutes: LOCKED_MINUTES });
};

/** Failed attempts by the name that was given: those by the name and by the address of one user are not added. */
export const lockoutsOf = ({ store, clock }: ServiceContext): Lockouts =>
  new Lockouts({ store, clock, records: signInLockouts, settings: SETTINGS, refuse: refuseLocked });

/** The name by which attempts are counted. */
export const toLockoutName = normalizedEmail;

/** @throws KeelsonError `workspace.passwords_off` */
export const requirePasswordsEnabled = async (reads: Reads): Promise<void> => {
  if (!(await findSignInSettings(reads)).passwordsEnabled)
    throw new KeelsonError('workspace.passwords_off');
};

/** @throws KeelsonError `jsonapi.invalid_attribute` */
const checkPassword = (password: string, user: Pick<User, 'username' | 'email'>): void =>
  refuseInvalid(
    passwordFaults(password, user).map((fault) =>
      attributeViolation('password', `Password ${fault}`),
    ),
  );

/**
 * A checked password, hashed before the transaction that stores it.
 * @throws KeelsonError `jsonapi.invalid_attribute`
 */
export const hashFor = (
  user: Pick<User, 'username' | 'email'>,
  password: string,
): Promise<string> => {
  checkPassword(password, user);
  return hashPassword(normalizedPassword(password));
};

/** Stores a password, and ends the failures, sessions and links that were before it. @returns the user as it is then */
export const storePassword = async (
  context: ServiceContext,
  tx: Transaction,
  user: User,
  hash: string,
  keptSessionId?: string,
): Promise<User> => {
  passwordRecords.write(tx, [user.id], { hash, changedAtMs: context.clock.nowMs() });
  await endSessionsOf(tx, user.id, keptSessionId);
  for (const name of [user.username, user.email])
    lockoutsOf(context).forget(tx, toLockoutName(name));
  return (await userRecords.find(tx, user.id)) ?? user;
};

export interface VerifiedPassword {
  readonly user: User;
  /** The hash that fits; another one is stored as soon as the password changes. */
  readonly hash: string;
}

/** The user of a password; undefined if it is wrong. As much work is done without a user. */
export const verifyPasswordOf = async (
  { store }: ServiceContext,
  user: User | undefined,
  password: string,
): Promise<VerifiedPassword | undefined> => {
  const hash = user && (await passwordRecords.find(store, user.id))?.hash;
  const isRight = await verifyPassword(hash, normalizedPassword(password));
  const isOpen = user !== undefined && user.isSuspended !== true;
  return isRight && isOpen && hash !== undefined ? { user, hash } : undefined;
};

/**
 * The caller's own account, proved by its password, because whoever finds a session open must not take the account.
 * @param field of the request that has the password
 * @throws KeelsonError `workspace.not_found`, `workspace.sign_in_locked`, `jsonapi.invalid_attribute`
 */
export const requireOwnPassword = async (
  context: ServiceContext,
  { kind, id }: Principal,
  password: string,
  field: string,
): Promise<VerifiedPassword> => {
  const user = kind === 'user' ? await userRecords.find(context.store, id) : undefined;
  if (user === undefined) throw notFound('account');
  const verified = await lockoutsOf(context).verifyUnlessLocked(toLockoutName(user.username), () =>
    verifyPasswordOf(context, user, password),
  );
  if (verified === undefined)
    refuseInvalid([attributeViolation(field, 'is not the password of the account')]);
  return verified as VerifiedPassword;
};

/** The user of a verified password, unless it has changed since. @throws KeelsonError `workspace.sign_in_refused` */
export const requireSamePassword = async (
  tx: Transaction,
  { user, hash }: VerifiedPassword,
): Promise<User> => {
  const current = await userRecords.find(tx, user.id);
  const password = await passwordRecords.find(tx, user.id);
  if (current === undefined || current.isSuspended === true || password?.hash !== hash)
    throw new KeelsonError('workspace.sign_in_refused');
  return current;
};

/** Changes the caller's own password, which ends its other sessions. */
export const changePassword = async (
  context: ServiceContext,
  principal: Principal,
  { current, next }: { readonly current: string; readonly next: string },
): Promise<User> => {
  await requirePasswordsEnabled(context.store);
  const verified = await requireOwnPassword(context, principal, current, 'current_password');
  const hash = await hashFor(verified.user, next);
  return context.store.transact(async (tx) => {
    const user = await requireSamePassword(tx, verified);
    return storePassword(context, tx, user, hash, principal.tokenId);
  });
};
