/** Public keys of ACME clients as JSON Web Keys (RFC 7517, RFC 7518 §6, RFC 8037). */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { PublicJwk } from '../../keys/domain/jwk-thumbprint.ts';
import { AcmeProblem } from '../problems/problem.ts';

const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 8192;
const BASE64URL = /^[A-Za-z0-9_-]+$/;
/** Length of a coordinate in base64url, by curve (RFC 7518 §6.2.1). */
const COORDINATE_LENGTH: Readonly<Record<string, number>> = {
  'P-256': 43,
  'P-384': 64,
  'P-521': 88,
};

const refuse = (detail: string): never => {
  throw new AcmeProblem('badPublicKey', detail);
};

/** Re-encodes the member, so that a key has only one spelling and one thumbprint. */
const textOf = (jwk: Readonly<Record<string, unknown>>, member: string): string => {
  const value = jwk[member];
  return typeof value === 'string' && BASE64URL.test(value)
    ? Buffer.from(value, 'base64url').toString('base64url')
    : refuse(`the key lacks "${member}" in base64url`);
};

/** Without leading zero octets (RFC 8555 §8.1). */
const numberOf = (jwk: Readonly<Record<string, unknown>>, member: string): string => {
  const octets = Buffer.from(textOf(jwk, member), 'base64url');
  const first = octets.findIndex((octet) => octet !== 0);
  return octets.subarray(Math.max(0, first)).toString('base64url');
};

const readRsa = (jwk: Readonly<Record<string, unknown>>): PublicJwk => {
  const [n, e] = [numberOf(jwk, 'n'), numberOf(jwk, 'e')];
  const modulus = Buffer.from(n, 'base64url');
  const bits = modulus.byteLength * 8 - Math.clz32(modulus[0] ?? 0) + 24;
  if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS)
    refuse(`RSA keys have from ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits here, not ${bits}`);
  const exponent = Buffer.from(e, 'base64url');
  const isOdd = ((exponent.at(-1) ?? 0) & 1) === 1;
  if (exponent.byteLength > 4 || !isOdd || exponent.readUIntBE(0, exponent.byteLength) < 3)
    refuse('the RSA exponent is not usable');
  return { kty: 'RSA', n, e };
};

/**
 * The public key in an untrusted JWK.
 * @throws AcmeProblem `badPublicKey`
 */
export const parsePublicJwk = (raw: unknown): PublicJwk => {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    return refuse('"jwk" must be an object');
  const jwk = raw as Readonly<Record<string, unknown>>;
  if ('d' in jwk || 'k' in jwk) refuse('"jwk" must hold a public key only');
  const { kty, crv } = jwk;
  if (kty === 'RSA') return readRsa(jwk);
  if (kty === 'EC' && typeof crv === 'string' && Object.hasOwn(COORDINATE_LENGTH, crv)) {
    const [x, y] = [textOf(jwk, 'x'), textOf(jwk, 'y')];
    if ([x, y].some(({ length }) => length !== COORDINATE_LENGTH[crv]))
      refuse(`a coordinate of ${crv} has another length`);
    return { kty, crv, x, y };
  }
  if (kty === 'OKP' && crv === 'Ed25519') return { kty, crv, x: textOf(jwk, 'x') };
  return refuse('keys must be of type RSA, EC on P-256, P-384 or P-521, or OKP on Ed25519');
};

/** @throws AcmeProblem `badPublicKey` for a point that is not on its curve */
export const importPublicJwk = (jwk: PublicJwk): KeyObject => {
  try {
    return createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
  } catch (cause) {
    throw new AcmeProblem('badPublicKey', 'the key is not valid', { cause });
  }
};
