/** Signed requests: flattened JSON Web Signatures (RFC 7515 §7.2.2) with the restrictions of RFC 8555 §6.2. */

import { type KeyObject, verify } from 'node:crypto';
import { ecdsaSignatureToDer } from '@keelson/x509';
import { type PublicJwk } from '../../keys/domain/jwk-thumbprint.ts';
import { AcmeProblem, malformed } from '../problems/problem.ts';

interface Algorithm {
  readonly hash: string | null;
  readonly fits: (key: PublicJwk) => boolean;
  /** ECDSA only: length of each of the two numbers of a signature. */
  readonly coordinateBytes?: number;
}

const onCurve =
  (curve: string) =>
  (key: PublicJwk): boolean =>
    key.kty === 'EC' && key.crv === curve;

/** RFC 8555 §6.2 requires ES256 and forbids MACs and `none`. */
const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  ES256: { hash: 'sha256', fits: onCurve('P-256'), coordinateBytes: 32 },
  ES384: { hash: 'sha384', fits: onCurve('P-384'), coordinateBytes: 48 },
  ES512: { hash: 'sha512', fits: onCurve('P-521'), coordinateBytes: 66 },
  EdDSA: { hash: null, fits: ({ kty }) => kty === 'OKP' },
  RS256: { hash: 'sha256', fits: ({ kty }) => kty === 'RSA' },
};
export const SIGNATURE_ALGORITHMS: readonly string[] = Object.keys(ALGORITHMS);

export type JsonMembers = Readonly<Record<string, unknown>>;

/** A JWS whose signature has not been verified. */
export interface ParsedJws {
  readonly protectedHeader: JsonMembers;
  /** As sent; the signature covers these texts. */
  readonly protectedText: string;
  readonly payloadText: string;
  readonly payload: Uint8Array;
  readonly signatureText: string;
  readonly signature: Uint8Array;
}

/** The signed text, its signature and its algorithm, as plain data that can be sent to another thread. */
export interface SignedText {
  /** Hash for node:crypto; null if the algorithm includes hashing. */
  readonly hash: string | null;
  /** ECDSA only. */
  readonly coordinateBytes: number | undefined;
  /** ASCII. */
  readonly text: string;
  /** base64url */
  readonly signature: string;
}

const BASE64URL = /^[A-Za-z0-9_-]*$/;
const MAX_DEPTH = 20;

export const isMembers = (value: unknown): value is JsonMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const depthOf = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  let deepest = 0;
  for (const part of Object.values(value)) deepest = Math.max(deepest, depthOf(part));
  return deepest + 1;
};

/**
 * Parses a client's JSON text as an object. @param what name of the text in the error
 * @throws AcmeProblem `malformed`
 */
export const parseMembers = (text: string, what: string): JsonMembers => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed(`${what} is not valid JSON`, { cause });
  }
  if (!isMembers(value)) throw malformed(`${what} is not a JSON object`);
  if (depthOf(value) > MAX_DEPTH) throw malformed(`${what} is nested too deeply`);
  return value;
};

const decode = (members: JsonMembers, name: string): readonly [string, Buffer] => {
  const text = members[name];
  // RFC 8555 §6.1: no padding. A remainder of one character cannot occur, because it encodes less
  // than an octet.
  if (typeof text !== 'string' || !BASE64URL.test(text) || text.length % 4 === 1)
    throw malformed(`"${name}" must be base64url without padding`);
  return [text, Buffer.from(text, 'base64url')];
};

/**
 * A flattened JWS with one signature and without unprotected headers.
 * @throws AcmeProblem `malformed`
 */
export const parseJws = (value: JsonMembers): ParsedJws => {
  if ('signatures' in value) throw malformed('a JWS with several signatures is not accepted');
  if ('header' in value) throw malformed('an unprotected header is not accepted');
  const [protectedText, protectedBytes] = decode(value, 'protected');
  const [payloadText, payload] = decode(value, 'payload');
  const [signatureText, signature] = decode(value, 'signature');
  const protectedHeader = parseMembers(protectedBytes.toString(), 'the protected header');
  // RFC 7515 §4.1.11, RFC 7797: no critical extension is supported.
  if ('crit' in protectedHeader) throw malformed('critical header parameters are not understood');
  if ('b64' in protectedHeader) throw malformed('an unencoded payload is not accepted');
  return { protectedHeader, protectedText, payloadText, payload, signatureText, signature };
};

/** @throws AcmeProblem `badSignatureAlgorithm` with the accepted algorithms (RFC 8555 §6.2) */
export const requireAlgorithm = ({ alg }: JsonMembers): string => {
  if (typeof alg === 'string' && Object.hasOwn(ALGORITHMS, alg)) return alg;
  throw new AcmeProblem(
    'badSignatureAlgorithm',
    `"alg" must be one of ${SIGNATURE_ALGORITHMS.join(', ')}`,
    { algorithms: SIGNATURE_ALGORITHMS },
  );
};

/**
 * The signature of a JWS in the form that verification with this key needs. @throws AcmeProblem
 * `badSignatureAlgorithm` if the algorithm does not fit the key type
 */
export const signedTextOf = (jws: ParsedJws, jwk: PublicJwk): SignedText => {
  const name = requireAlgorithm(jws.protectedHeader);
  const { hash, fits, coordinateBytes } = ALGORITHMS[name] as Algorithm;
  if (!fits(jwk))
    throw new AcmeProblem('badSignatureAlgorithm', `"${name}" is not for a key of this kind`, {
      algorithms: SIGNATURE_ALGORITHMS.filter((other) => ALGORITHMS[other]?.fits(jwk)),
    });
  const text = `${jws.protectedText}.${jws.payloadText}`;
  return { hash, coordinateBytes, text, signature: jws.signatureText };
};

/** Whether this key made the signature. */
export const isSigned = (signed: SignedText, key: KeyObject): boolean => {
  const octets = Buffer.from(signed.signature, 'base64url');
  const { hash, coordinateBytes } = signed;
  const signature =
    coordinateBytes === undefined ? octets : ecdsaSignatureToDer(octets, coordinateBytes);
  // Passed directly: wrapped in an object with options, a key takes node:crypto twice as long.
  return (
    signature !== undefined && verify(hash, Buffer.from(signed.text, 'latin1'), key, signature)
  );
};

/** The problem for a JWS with an invalid signature. */
export const unsigned = (): AcmeProblem => malformed('the signature does not verify');
