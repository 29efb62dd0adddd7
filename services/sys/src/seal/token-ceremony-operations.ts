/**
 * Creates a privileged token from key shares: generate-root and, with a different resulting token,
 * the DR operation token. Attempts are kept behind the barrier, so every replica sees the same one.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { Reads, Store, Transaction } from '@keelson/storage';
import { RANDOM_LENGTH, SERVICE_PREFIX } from '../tokens/domain/token-text.ts';
import { randomBase62 } from '../tokens/token-operations.ts';
import {
  type Cancellation,
  type Ceremony,
  type CeremonyTexts,
  isComplete,
  requireCancellable,
  sharesOf,
  underSet,
  withProvenShares,
  withShare,
} from './domain/ceremony.ts';
import { encodeToken } from './domain/one-time-password.ts';
import { parseShare } from './domain/share-text.ts';
import { encryptToPgpKey, pgpFingerprint } from './pgp.ts';
import type { Seal } from './seal.ts';
import { type TokenPurpose, tokenCeremonies } from './seal-records.ts';

/** Storage for the one attempt of a kind. */
export interface TokenAttempts {
  find(reads: Reads): Promise<Readonly<Ceremony<TokenPurpose>> | undefined>;
  write(tx: Transaction, attempt: Ceremony<TokenPurpose>): void;
  delete(tx: Transaction): void;
}

const GENERATE_ROOT = 'generate-root';
export const rootTokenAttempts: TokenAttempts = {
  find: (reads) => tokenCeremonies.find(reads, GENERATE_ROOT),
  write: (tx, attempt) => tokenCeremonies.write(tx, GENERATE_ROOT, attempt),
  delete: (tx) => tokenCeremonies.delete(tx, GENERATE_ROOT),
};

export interface TokenCeremonyContext {
  readonly store: Store;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly attempts: TokenAttempts;
  readonly texts: CeremonyTexts;
  /** Issues the token, of length `TOKEN_LENGTH`, as part of the transaction. */
  readonly issue: (tx: Transaction) => Promise<string>;
}

/** Length of a service token of the root namespace, and of the one-time password for it. */
export const TOKEN_LENGTH = SERVICE_PREFIX.length + RANDOM_LENGTH;

export interface TokenCeremonyProgress {
  readonly attempt: Ceremony<TokenPurpose> | undefined;
  readonly required: number;
  /** "" until complete. */
  readonly encodedToken: string;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const requirePassword = (otp: string): string => {
  if (otp !== '' && otp.length !== TOKEN_LENGTH) refuse('OTP string has incorrect length');
  return otp === '' ? randomBase62(TOKEN_LENGTH) : otp;
};

const encode = async (token: string, purpose: TokenPurpose): Promise<string> =>
  purpose.pgpKey === ''
    ? encodeToken(token, purpose.password)
    : Buffer.from(await encryptToPgpKey(purpose.pgpKey, token)).toString('base64');

export const tokenCeremonyProgress = async (
  context: TokenCeremonyContext,
): Promise<TokenCeremonyProgress> => {
  const set = await context.seal.shareSet();
  const attempt = await context.attempts.find(context.store);
  return {
    attempt: attempt && underSet(attempt, set),
    required: set.threshold,
    encodedToken: '',
  };
};

export const startTokenCeremony = async (
  context: TokenCeremonyContext,
  { otp, pgpKey }: { readonly otp: string; readonly pgpKey: string },
): Promise<TokenCeremonyProgress> => {
  context.seal.requireRootKey();
  if (otp !== '' && pgpKey !== '') refuse('otp and pgp_key cannot both be provided');
  const purpose: TokenPurpose = {
    password: pgpKey === '' ? requirePassword(otp) : '',
    pgpKey,
    pgpFingerprint: pgpKey === '' ? '' : await pgpFingerprint(pgpKey),
  };
  const { threshold } = await context.seal.shareSet();
  const attempt = {
    nonce: randomUUID(),
    startedAtMs: context.clock.nowMs(),
    required: threshold,
    purpose,
    shares: [],
  };
  await context.store.transact(async (tx) => {
    if ((await context.attempts.find(tx)) !== undefined) {
      refuse(`${context.texts.name} already in progress`);
    }
    context.attempts.write(tx, attempt);
  });
  return { attempt, required: threshold, encodedToken: '' };
};

export const giveTokenCeremonyShare = async (
  context: TokenCeremonyContext,
  { key, nonce }: { readonly key: string; readonly nonce: string },
): Promise<TokenCeremonyProgress> => {
  context.seal.requireRootKey();
  if (key === '') refuse("'key' must be specified in request body as JSON");
  const share = parseShare(key);
  const outcome = await context.store.transact(async (tx) => {
    const set = await context.seal.shareSet(tx);
    const given = { nonce, share, set };
    const attempt = withShare(await context.attempts.find(tx), given, context.texts);
    if (!isComplete(attempt)) {
      context.attempts.write(tx, attempt);
      return { attempt, token: undefined };
    }
    if (!(await context.seal.acceptsShares(sharesOf(attempt)))) {
      context.attempts.write(tx, withProvenShares(attempt, set));
      return { attempt: undefined, token: undefined };
    }
    await context.seal.learnShares(tx, sharesOf(attempt));
    context.attempts.delete(tx);
    return { attempt, token: await context.issue(tx) };
  });
  if (outcome.attempt === undefined)
    return refuse(`${context.texts.name} aborted: invalid key shares`);
  const { attempt, token } = outcome;
  return {
    attempt,
    required: attempt.required,
    encodedToken: token === undefined ? '' : await encode(token, attempt.purpose),
  };
};

export const cancelTokenCeremony = (
  { store, seal, attempts, clock }: TokenCeremonyContext,
  by: Cancellation,
): Promise<void> =>
  store.transact(async (tx) => {
    const attempt = await attempts.find(tx);
    if (attempt === undefined) return;
    requireCancellable(attempt, by, { set: await seal.shareSet(tx), nowMs: clock.nowMs() });
    attempts.delete(tx);
  });
