/**
 * Making a powerful token from key shares: generate-root, and with another token at its end the DR
 * operation token. Attempts are kept behind the barrier, so every replica sees the same one.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { Reads, Store, Transaction } from '@keelson/storage';
import { RANDOM_LENGTH, SERVICE_PREFIX } from '../tokens/domain/token-text.ts';
import { randomBase62 } from '../tokens/token-operations.ts';
import {
  type Ceremony,
  type CeremonyTexts,
  isComplete,
  requireCancellable,
  sharesOf,
  withShare,
} from './domain/ceremony.ts';
import { encodeToken } from './domain/one-time-password.ts';
import { parseShare } from './domain/share-text.ts';
import { encryptToPgpKey, pgpFingerprint } from './pgp.ts';
import type { Seal } from './seal.ts';
import { type TokenPurpose, tokenCeremonies } from './seal-records.ts';

/** Where the one attempt of a kind is kept. */
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

export interface TokenCeremonyOptions {
  readonly store: Store;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly attempts: TokenAttempts;
  readonly texts: CeremonyTexts;
  /** Makes the token, of the length `TOKEN_LENGTH`, as part of the transaction. */
  readonly issue: (tx: Transaction) => Promise<string>;
}

/** A service token of the root namespace; a one-time password has the same length. */
export const TOKEN_LENGTH = SERVICE_PREFIX.length + RANDOM_LENGTH;

export interface TokenCeremonyProgress {
  readonly attempt: Ceremony<TokenPurpose> | undefined;
  readonly required: number;
  /** "" until complete. */
  readonly encodedToken: string;
}

export interface TokenCeremonies {
  status(): Promise<TokenCeremonyProgress>;
  start(request: { readonly otp: string; readonly pgpKey: string }): Promise<TokenCeremonyProgress>;
  update(request: { readonly key: string; readonly nonce: string }): Promise<TokenCeremonyProgress>;
  cancel(by: { readonly nonce: string; readonly isSudo: boolean }): Promise<void>;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

export const createTokenCeremonies = (options: TokenCeremonyOptions): TokenCeremonies => {
  const { store, seal, clock, attempts, texts } = options;

  const required = async (): Promise<number> => (await seal.record())?.threshold ?? 0;

  const requirePassword = (otp: string): string => {
    if (otp !== '' && otp.length !== TOKEN_LENGTH) refuse('OTP string has incorrect length');
    return otp === '' ? randomBase62(TOKEN_LENGTH) : otp;
  };

  const encode = async (token: string, purpose: TokenPurpose): Promise<string> =>
    purpose.pgpKey === ''
      ? encodeToken(token, purpose.password)
      : Buffer.from(await encryptToPgpKey(purpose.pgpKey, token)).toString('base64');

  return {
    status: async () => ({
      attempt: await attempts.find(store),
      required: await required(),
      encodedToken: '',
    }),

    start: async ({ otp, pgpKey }) => {
      seal.requireRootKey();
      if (otp !== '' && pgpKey !== '') refuse('otp and pgp_key cannot both be provided');
      const purpose: TokenPurpose = {
        password: pgpKey === '' ? requirePassword(otp) : '',
        pgpKey,
        pgpFingerprint: pgpKey === '' ? '' : await pgpFingerprint(pgpKey),
      };
      const threshold = await required();
      const attempt = {
        nonce: randomUUID(),
        startedAtMs: clock.nowMs(),
        required: threshold,
        purpose,
        shares: [],
      };
      await store.transact(async (tx) => {
        if ((await attempts.find(tx)) !== undefined) {
          refuse(`${texts.name} already in progress`);
        }
        attempts.write(tx, attempt);
      });
      return { attempt, required: threshold, encodedToken: '' };
    },

    update: async ({ key, nonce }) => {
      seal.requireRootKey();
      if (key === '') refuse("'key' must be specified in request body as JSON");
      const share = parseShare(key);
      const outcome = await store.transact(async (tx) => {
        const attempt = withShare(await attempts.find(tx), nonce, share, texts);
        if (!isComplete(attempt)) {
          attempts.write(tx, attempt);
          return { attempt, token: undefined };
        }
        if (!(await seal.acceptsShares(sharesOf(attempt)))) {
          // The attempt stays, its shares do not: one of them is wrong and nobody knows which.
          attempts.write(tx, { ...attempt, shares: [] });
          return { attempt: undefined, token: undefined };
        }
        attempts.delete(tx);
        return { attempt, token: await options.issue(tx) };
      });
      if (outcome.attempt === undefined) return refuse(`${texts.name} aborted: invalid key shares`);
      const { attempt, token } = outcome;
      return {
        attempt,
        required: attempt.required,
        encodedToken: token === undefined ? '' : await encode(token, attempt.purpose),
      };
    },

    cancel: ({ nonce, isSudo }) =>
      store.transact(async (tx) => {
        const attempt = await attempts.find(tx);
        if (attempt === undefined) return;
        requireCancellable(attempt, { nonce, isSudo, nowMs: clock.nowMs() });
        attempts.delete(tx);
      }),
  };
};
