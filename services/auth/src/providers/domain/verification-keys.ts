/** Public keys of providers, and which of them may have signed a token. */
import { createPublicKey, type KeyObject } from 'node:crypto';

/** Signatures by key pairs only: with a shared key (HS256), everybody who verifies could sign as well. */
export const SIGNATURE_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'EdDSA',
] as const;

/** A key set of a provider, and how it is found: at its own address, or named by the provider's discovery document. */
export interface KeySource {
  readonly kind: 'jwks' | 'discovery';
  readonly url: string;
  readonly caPem: string;
}

export interface VerificationKey {
  /** Undefined if any token may be signed by the key. */
  readonly kid: string | undefined;
  /** Undefined if the key is for each algorithm of its type. */
  readonly alg: string | undefined;
  readonly key: KeyObject;
}

/** The members of a token's header that choose the key. */
export interface SignatureHead {
  readonly alg: string;
  readonly kid: string | undefined;
}

/** Below it an RSA signature can be forged (NIST SP 800-131A); above it, verifying costs too much. */
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 16_384;

const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/** Whether signatures of this algorithm can be verified with the key. */
const isOfAlgorithm = (
  { asymmetricKeyType, asymmetricKeyDetails }: KeyObject,
  alg: string,
): boolean => {
  if (asymmetricKeyType === 'rsa') return /^[RP]S/.test(alg);
  if (asymmetricKeyType === 'ec') return CURVES[asymmetricKeyDetails?.namedCurve ?? ''] === alg;
  return alg === 'EdDSA';
};

/** Whether a public key is one of those that tokens are signed with. */
const isSigningKey = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean => {
  if (asymmetricKeyType === 'rsa') {
    const bits = asymmetricKeyDetails?.modulusLength ?? 0;
    return bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS;
  }
  if (asymmetricKeyType === 'ec') return (asymmetricKeyDetails?.namedCurve ?? '') in CURVES;
  return asymmetricKeyType === 'ed25519';
};

const createOrNothing = (create: () => KeyObject): KeyObject | undefined => {
  try {
    const key = create();
    return isSigningKey(key) ? key : undefined;
  } catch {
    return undefined;
  }
};

/** The key of a public key or certificate in PEM; undefined for anything else, a private key included. */
export const parsePemKey = (pem: string): VerificationKey | undefined => {
  if (pem.includes('PRIVATE KEY')) return undefined;
  const key = createOrNothing(() => createPublicKey(pem));
  return key && { kid: undefined, alg: undefined, key };
};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** The keys of a JWK set (RFC 7517) that signatures can be verified with; others are passed over. */
export const parseJwks = (jwks: readonly unknown[]): readonly VerificationKey[] =>
  jwks.flatMap((value) => {
    if (typeof value !== 'object' || value === null) return [];
    const jwk = value as Readonly<Record<string, unknown>>;
    if (jwk['use'] !== undefined && jwk['use'] !== 'sig') return [];
    const key = createOrNothing(() => createPublicKey({ key: jwk, format: 'jwk' }));
    return key === undefined ? [] : [{ kid: textOf(jwk['kid']), alg: textOf(jwk['alg']), key }];
  });

const isOfId = ({ kid }: VerificationKey, wanted: string | undefined): boolean =>
  wanted === undefined || kid === undefined || kid === wanted;

/** Whether the token names no key, or one of these. */
export const hasKeyOfId = (keys: readonly VerificationKey[], kid: string | undefined): boolean =>
  keys.some((key) => isOfId(key, kid));

/** The keys that may have signed the token. */
export const candidatesFor = (
  keys: readonly VerificationKey[],
  { alg, kid }: SignatureHead,
): readonly VerificationKey[] =>
  keys.filter(
    (candidate) =>
      isOfId(candidate, kid) && (candidate.alg ?? alg) === alg && isOfAlgorithm(candidate.key, alg),
  );
