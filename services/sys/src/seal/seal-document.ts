/** Wire documents of the seal; their members are at the top level, without the envelope. */
import type { Dialect } from '@keelson/proto/edge/v1/edge';
import { dialectRules, type JsonObject } from '@keelson/secrets-api';
import type { RekeyAttempt, RekeyOutcome } from './rekey-operations.ts';
import type { SealStatus } from './seal.ts';
import type { HandedShares } from './sealed-shares.ts';
import { TOKEN_LENGTH, type TokenCeremonyProgress } from './token-ceremony-operations.ts';

export interface Build {
  readonly versions: { readonly own: string; readonly compatible: string };
  /** "sqlite" or "postgresql". */
  readonly storageType: string;
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const count = { type: 'integer' } as const;

/** The description of an answer with `toSealStatus`. */
export const SEAL_STATUS = {
  document: {
    type: { ...text, description: '`static` or `shamir`.' },
    initialized: flag,
    sealed: flag,
    t: { ...count, description: 'Shares needed.' },
    n: { ...count, description: 'Shares made.' },
    progress: { ...count, description: 'Shares given so far.' },
    nonce: text,
    version: text,
    build_date: text,
    migration: flag,
    cluster_name: text,
    cluster_id: text,
    recovery_seal: flag,
    recovery_seal_type: text,
    storage_type: text,
  },
} as const;

export const toSealStatus = (
  status: SealStatus,
  { versions, storageType }: Build,
  dialect: Dialect,
): JsonObject => ({
  type: status.type,
  initialized: status.initialized,
  sealed: status.sealed,
  t: status.threshold,
  n: status.shares,
  progress: status.progress,
  nonce: status.nonce,
  version: dialectRules(dialect).version(versions),
  build_date: '',
  migration: false,
  ...(status.cluster !== undefined && {
    cluster_name: status.cluster.name,
    cluster_id: status.cluster.id,
  }),
  recovery_seal: status.type === 'static',
  ...(status.type === 'static' && { recovery_seal_type: 'shamir' }),
  storage_type: storageType,
});

export const toHandedShares = (handed: HandedShares): JsonObject => ({
  keys: handed.keys,
  keys_base64: handed.keysBase64,
});

/** The description of an answer with `toTokenCeremony`. */
export const TOKEN_CEREMONY = {
  document: {
    started: flag,
    nonce: text,
    progress: count,
    required: count,
    complete: flag,
    encoded_token: text,
    encoded_root_token: text,
    pgp_fingerprint: text,
    otp: text,
    otp_length: count,
  },
} as const;

export const toTokenCeremony = (
  { attempt, required, encodedToken }: TokenCeremonyProgress,
  oneTimePassword = '',
): JsonObject => ({
  started: attempt !== undefined,
  nonce: attempt?.nonce ?? '',
  progress: attempt?.shares.length ?? 0,
  required,
  complete: encodedToken !== '',
  encoded_token: encodedToken,
  encoded_root_token: encodedToken,
  pgp_fingerprint: attempt?.purpose.pgpFingerprint ?? '',
  otp: oneTimePassword,
  otp_length: TOKEN_LENGTH,
});

/** The description of an answer with `toRekeyStatus`. */
export const REKEY_STATUS = {
  document: {
    nonce: text,
    started: flag,
    t: count,
    n: count,
    progress: count,
    required: count,
    pgp_fingerprints: { type: ['array', 'null'], items: text },
    backup: flag,
    verification_required: flag,
    verification_nonce: text,
  },
} as const;

export const toRekeyStatus = (attempt: RekeyAttempt | undefined, required: number): JsonObject => ({
  nonce: attempt?.nonce ?? '',
  started: attempt !== undefined,
  t: attempt?.purpose.threshold ?? 0,
  n: attempt?.purpose.shares ?? 0,
  progress: attempt?.shares.length ?? 0,
  required: attempt?.required ?? required,
  pgp_fingerprints: attempt === undefined ? null : attempt.purpose.pgpFingerprints,
  backup: attempt?.purpose.backup ?? false,
  verification_required: attempt?.purpose.verificationRequired ?? false,
  ...(attempt?.purpose.pending !== undefined && {
    verification_nonce: attempt.purpose.pending.nonce,
  }),
});

/** The description of an answer with `toRekeyOutcome`. */
export const REKEY_OUTCOME = {
  document: {
    ...REKEY_STATUS.document,
    complete: flag,
    keys: { type: 'array', items: text },
    keys_base64: { type: 'array', items: text },
  },
} as const;

export const toRekeyOutcome = ({ attempt, handed }: RekeyOutcome): JsonObject =>
  handed === undefined
    ? toRekeyStatus(attempt, attempt.required)
    : {
        nonce: attempt.nonce,
        complete: true,
        ...toHandedShares(handed),
        pgp_fingerprints: attempt.purpose.pgpFingerprints,
        backup: attempt.purpose.backup,
        verification_required: attempt.purpose.verificationRequired,
        ...(attempt.purpose.pending !== undefined && {
          verification_nonce: attempt.purpose.pending.nonce,
        }),
      };

/** The description of an answer with `toVerification`, and of the end of a verification. */
export const VERIFICATION = {
  document: { nonce: text, started: flag, t: count, n: count, progress: count, complete: flag },
} as const;

export const toVerification = (attempt: RekeyAttempt): JsonObject => ({
  nonce: attempt.purpose.pending?.nonce ?? '',
  started: attempt.purpose.pending !== undefined,
  t: attempt.purpose.threshold,
  n: attempt.purpose.shares,
  progress: attempt.purpose.pending?.shares.length ?? 0,
});
