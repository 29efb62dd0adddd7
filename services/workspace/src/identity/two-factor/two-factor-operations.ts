/** The second factor of an account: passcodes of an authenticator app, and recovery codes for the day it is lost. */
import { randomBytes } from 'node:crypto';
import {
  newPasscodeKey,
  type PasscodeRules,
  passcodeAddress,
  periodOfPasscode,
  UNUSED,
  waitsUntilMs,
} from '@keelson/credentials';
import { KeelsonError } from '@keelson/errors';
import { refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { passcodeUses, type SecondFactor, secondFactors } from '../model/credential-records.ts';
import { hashToken, isSession } from '../model/token-records.ts';
import { type User, userRecords } from '../model/user-records.ts';
import { requireOwnPassword, requireSamePassword } from '../passwords/password-operations.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { endSessionsOf } from '../tokens/session-operations.ts';

/** As authenticator apps expect where an address states nothing else. */
const RULES: PasscodeRules = {
  algorithm: 'SHA1',
  digits: 6,
  periodSeconds: 30,
  skew: 1,
  maxAttempts: 5,
};
const KEY_BYTES = 20;

const RECOVERY_CODES = 10;
/** 100 random bits for each code, so that a plain digest of it cannot be found by brute force. */
const CODE_LENGTH = 20;
const CODE_LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
const CODE_GROUP = /.{5}(?=.)/g;

/** 32 letters: each takes five bits of a byte, and all are equally likely. */
const newRecoveryCode = (): string =>
  Array.from(randomBytes(CODE_LENGTH), (byte) => CODE_LETTERS[byte % CODE_LETTERS.length])
    .join('')
    .replaceAll(CODE_GROUP, '$&-');

const digestOfCode = (code: string): string =>
  hashToken(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ''));

/** A second factor in a request: a passcode, or one of the recovery codes. */
export interface GivenFactor {
  readonly passcode: string | undefined;
  readonly recoveryCode: string | undefined;
}

export type Verdict =
  | { readonly isRight: true }
  | { readonly isRight: false; readonly field: string; readonly text: string };

const RIGHT: Verdict = { isRight: true };
const wrong = (field: string, text: string): Verdict => ({ isRight: false, field, text });

/** Each passcode is accepted once, and whoever guesses has to wait. */
const verifyPasscode = async (
  tx: Transaction,
  userId: string,
  { key }: SecondFactor,
  passcode: string,
  nowMs: number,
): Promise<Verdict> => {
  const use = (await passcodeUses.find(tx, userId)) ?? UNUSED;
  const waitMs = waitsUntilMs(use, RULES) - nowMs;
  if (waitMs > 0)
    return wrong(
      'passcode',
      `was wrong too often: try again in ${Math.ceil(waitMs / 1000)} seconds`,
    );
  const period = await periodOfPasscode(key, RULES, passcode, nowMs);
  if (period !== undefined && period > use.lastPeriod) {
    passcodeUses.write(tx, [userId], { lastPeriod: period, failures: 0, lastFailureMs: 0 });
    return RIGHT;
  }
  const failures = use.failures + 1;
  passcodeUses.write(tx, [userId], { ...use, failures, lastFailureMs: nowMs });
  return wrong(
    'passcode',
    period === undefined ? 'is wrong' : 'has been used already: wait for the next',
  );
};

const verifyRecoveryCode = (
  tx: Transaction,
  userId: string,
  factor: SecondFactor,
  code: string,
): Verdict => {
  const digest = digestOfCode(code);
  const left = factor.recoveryHashes.filter((hash) => hash !== digest);
  if (left.length === factor.recoveryHashes.length)
    return wrong('recovery-code', 'is wrong, or has been used already');
  secondFactors.write(tx, [userId], { ...factor, recoveryHashes: left });
  return RIGHT;
};

/** Verifies the second factor of an account that has one, in a transaction that is committed in either case. */
export const verifySecondFactor = async (
  { clock }: ServiceContext,
  tx: Transaction,
  user: User,
  { passcode, recoveryCode }: GivenFactor,
): Promise<Verdict> => {
  if (user.hasSecondFactor !== true) return RIGHT;
  const factor = await secondFactors.find(tx, user.id);
  // One that is lost or damaged opens nothing.
  if (factor === undefined) return wrong('passcode', 'cannot be verified');
  if (passcode !== undefined) return verifyPasscode(tx, user.id, factor, passcode, clock.nowMs());
  return recoveryCode === undefined
    ? wrong('passcode', 'is required: the account has two-factor authentication')
    : verifyRecoveryCode(tx, user.id, factor, recoveryCode);
};

/** @throws KeelsonError `jsonapi.invalid_attribute` */
export const requireRight = (verdict: Verdict): void => {
  if (!verdict.isRight) refuseInvalid([attributeViolation(verdict.field, verdict.text)]);
};

export interface TwoFactorView {
  readonly user: User;
  readonly factor: SecondFactor | undefined;
}

const requireAccount = async (reads: Reads, { kind, id }: Principal): Promise<User> => {
  const user = kind === 'user' ? await userRecords.find(reads, id) : undefined;
  if (user === undefined) throw notFound('account');
  return user;
};

/** The second factor of the caller's own account. @throws KeelsonError `workspace.not_found` */
export const showTwoFactor = async (reads: Reads, principal: Principal): Promise<TwoFactorView> => {
  const user = await requireAccount(reads, principal);
  return { user, factor: await secondFactors.find(reads, user.id) };
};

/** Whoever has found an API token must not decide by what its user signs in. */
const requireSession = async (reads: Reads, { tokenId }: Principal): Promise<void> => {
  if (!(await isSession(reads, tokenId)))
    throw new KeelsonError('workspace.forbidden', {
      text: 'two-factor authentication is changed by a user who has signed in, and not with an API token',
    });
};

const conflict = (text: string): never => {
  throw new KeelsonError('workspace.conflict', { text });
};

/** The key that an authenticator app gets. It counts once a passcode has proved that it has it. */
export interface Enrolment extends TwoFactorView {
  readonly address: string;
}

/**
 * Makes a new key, in place of one that was not verified.
 * @throws KeelsonError `workspace.conflict` if the account has a second factor
 */
export const beginTwoFactor = async (
  context: IdentityContext,
  principal: Principal,
  password: string,
): Promise<Enrolment> => {
  await requireSession(context.store, principal);
  const verified = await requireOwnPassword(context, principal, password, 'current-password');
  const key = await newPasscodeKey(KEY_BYTES);
  const factor: SecondFactor = { key, recoveryHashes: [], verifiedAtMs: null };
  const user = await context.store.transact(async (tx) => {
    const current = await requireSamePassword(tx, verified);
    if (current.hasSecondFactor === true)
      return conflict('the account has two-factor authentication: disable it first');
    secondFactors.write(tx, [current.id], factor);
    return current;
  });
  const { publicUrl } = context;
  const site = publicUrl === undefined ? '' : ` ${new URL(publicUrl).host}`;
  const shown = { issuer: `Keelson${site}`, label: user.username };
  return { user, factor, address: await passcodeAddress(key, RULES, shown) };
};

/** The recovery codes, which are shown once. */
export interface NewCodes extends TwoFactorView {
  readonly codes: readonly string[];
}

const withNewCodes = (factor: SecondFactor): { factor: SecondFactor; codes: readonly string[] } => {
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  return { codes, factor: { ...factor, recoveryHashes: codes.map(digestOfCode) } };
};

/** Runs in a transaction that is committed also when the second factor is wrong, because failures are counted. */
const changeBy = async <T>(
  context: IdentityContext,
  principal: Principal,
  verify: (tx: Transaction, user: User, factor: SecondFactor) => Promise<Verdict>,
  change: (tx: Transaction, user: User, factor: SecondFactor) => Promise<T>,
): Promise<T> => {
  await requireSession(context.store, principal);
  const outcome = await context.store.transact(async (tx) => {
    const { user, factor } = await showTwoFactor(tx, principal);
    if (factor === undefined)
      return conflict('the account has no two-factor authentication: begin to set it up');
    const verdict = await verify(tx, user, factor);
    if (!verdict.isRight) return { verdict };
    // A recovery code that was just used is gone.
    const left = (await secondFactors.find(tx, user.id)) ?? factor;
    return { verdict, changed: await change(tx, user, left) };
  });
  requireRight(outcome.verdict);
  return outcome.changed as T;
};

/** Turns the second factor on, which ends the other sessions: they were begun without it. */
export const verifyTwoFactor = (
  context: IdentityContext,
  principal: Principal,
  passcode: string,
): Promise<NewCodes> =>
  changeBy(
    context,
    principal,
    (tx, user, factor) =>
      user.hasSecondFactor === true
        ? conflict('the account has two-factor authentication already')
        : verifyPasscode(tx, user.id, factor, passcode, context.clock.nowMs()),
    async (tx, user, known) => {
      await endSessionsOf(tx, user.id, principal.tokenId);
      const next = { ...(await requireAccount(tx, principal)), hasSecondFactor: true };
      await userRecords.write(tx, user.id, next);
      const { factor, codes } = withNewCodes({ ...known, verifiedAtMs: context.clock.nowMs() });
      secondFactors.write(tx, [user.id], factor);
      return { user: next, factor, codes };
    },
  );

/** Replaces the recovery codes. */
export const renewRecoveryCodes = (
  context: IdentityContext,
  principal: Principal,
  given: GivenFactor,
): Promise<NewCodes> =>
  changeBy(
    context,
    principal,
    (tx, user) => verifySecondFactor(context, tx, user, given),
    (tx, user, known) => {
      if (user.hasSecondFactor !== true)
        conflict('the account has no two-factor authentication yet: verify a passcode first');
      const { factor, codes } = withNewCodes(known);
      secondFactors.write(tx, [user.id], factor);
      return Promise.resolve({ user, factor, codes });
    },
  );

/** Ends the second factor of an account, in the transaction of whoever may. */
export const removeSecondFactor = async (tx: Transaction, user: User): Promise<User> => {
  const { hasSecondFactor: _, ...rest } = user;
  await userRecords.write(tx, user.id, rest);
  secondFactors.delete(tx, user.id);
  passcodeUses.delete(tx, user.id);
  return rest;
};

/** Ends the second factor of the caller's own account, with the password and the factor itself. */
export const disableTwoFactor = async (
  context: IdentityContext,
  principal: Principal,
  { password, ...given }: GivenFactor & { readonly password: string },
): Promise<void> => {
  await requireSession(context.store, principal);
  const verified = await requireOwnPassword(context, principal, password, 'current-password');
  await changeBy(
    context,
    principal,
    async (tx, user) => {
      await requireSamePassword(tx, verified);
      return verifySecondFactor(context, tx, user, given);
    },
    removeSecondFactor,
  );
};
