/**
 * JWT wrapping tokens (RFC 7519): a wrapping token together with the address of the cluster that can unwrap
 * it, signed with ES512 (RFC 7518 §3.4: P-521, SHA-512, the signature as r and s).
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { WrappingKey } from './wrapping-records.ts';

interface WrappingClaims {
  /** The wrapping token itself. */
  readonly jti: string;
  readonly accessor: string;
  readonly type: 'wrapping';
  /** In epoch seconds, like the two below. */
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
  readonly addr?: string;
}

interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** By record, whose object stays the same while it is unchanged. */
const keyPairs = new WeakMap<WrappingKey, KeyPair>();

/** The key pair of a wrapping key record. */
export const keyPairOf = (key: WrappingKey): KeyPair => {
  let pair = keyPairs.get(key);
  if (pair === undefined) {
    const privateKey = createPrivateKey(key.privateKeyPem);
    pair = { privateKey, publicKey: createPublicKey(privateKey) };
    keyPairs.set(key, pair);
  }
  return pair;
};

const toPart = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The only accepted header: a token cannot choose how it is verified. */
const HEADER = toPart({ alg: 'ES512', typ: 'JWT' });
const ENCODING = 'ieee-p1363';
/** Tolerated difference between the clocks of two clusters. */
const SKEW_SECONDS = 5;

export interface WrappingJwtRequest {
  readonly token: string;
  readonly accessor: string;
  readonly issuedAtMs: number;
  readonly ttlSeconds: number;
  /** "" when the cluster does not know its address. */
  readonly apiAddress: string;
}

export const signWrappingJwt = (
  key: WrappingKey,
  { token, accessor, issuedAtMs, ttlSeconds, apiAddress }: WrappingJwtRequest,
): string => {
  const iat = Math.floor(issuedAtMs / 1000);
  const claims: WrappingClaims = {
    jti: token,
    accessor,
    type: 'wrapping',
    iat,
    nbf: iat - SKEW_SECONDS,
    exp: iat + ttlSeconds,
    ...(apiAddress === '' ? {} : { addr: apiAddress }),
  };
  const signed = `${HEADER}.${toPart(claims)}`;
  const signature = sign('sha512', Buffer.from(signed), {
    key: keyPairOf(key).privateKey,
    dsaEncoding: ENCODING,
  });
  return `${signed}.${signature.toString('base64url')}`;
};

/** Whether a text has the form of a JWT wrapping token. */
export const isWrappingJwt = (text: string): boolean => text.startsWith(`${HEADER}.`);

/** The wrapping token inside; undefined when the signature is wrong or the token is not valid now. */
export const openWrappingJwt = (
  key: WrappingKey,
  jwt: string,
  nowMs: number,
): string | undefined => {
  const end = jwt.lastIndexOf('.');
  const isSigned = verify(
    'sha512',
    Buffer.from(jwt.slice(0, end)),
    { key: keyPairOf(key).publicKey, dsaEncoding: ENCODING },
    Buffer.from(jwt.slice(end + 1), 'base64url'),
  );
  if (!isSigned) return undefined;
  const claims = JSON.parse(
    Buffer.from(jwt.slice(HEADER.length + 1, end), 'base64url').toString(),
  ) as WrappingClaims;
  const nowSeconds = nowMs / 1000;
  const isInTime = claims.nbf <= nowSeconds && nowSeconds < claims.exp;
  return claims.type === 'wrapping' && isInTime ? claims.jti : undefined;
};
