/** Imported private keys, in any of the usual formats. */
import {
  createECDH,
  createPrivateKey,
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { DerReader } from '../der/der-reader.ts';
import { TAG } from '../der/der-types.ts';
import { publicKeyOctets } from '../extensions/key-identifiers.ts';
import { curveOfBits, describeKey, EC_PUBLIC_KEY, type KeyAlgorithm } from './key-algorithm.ts';
import type { KeyPair } from './key-pair.ts';
import { parsePublicKey, requireNamedCurve } from './signature-scheme.ts';

/** The formats differ in their first elements, so at most one of them can be parsed. */
const FORMS = ['pkcs8', 'sec1', 'pkcs1'] as const;
const MAX_KEY_BYTES = 16 * 1024;

const UNREADABLE = 'the key is not an unencrypted PKCS#8, PKCS#1 or SEC 1 private key';

/** First octet of a point with both coordinates (SEC 1 §2.3.3). */
const UNCOMPRESSED = 4;

const malformed = (text: string): KeelsonError => new KeelsonError('pki.malformed', { text });

const readKey = (der: Uint8Array): KeyObject => {
  if (der.byteLength <= MAX_KEY_BYTES)
    for (const type of FORMS)
      try {
        return createPrivateKey({ key: Buffer.from(der), format: 'der', type });
      } catch {
        // The key is not in this format. The cause is dropped, because it could quote the key.
      }
  throw malformed(UNREADABLE);
};

const toNumber = (base64url: string | undefined): bigint =>
  BigInt(`0x0${Buffer.from(base64url ?? '', 'base64url').toString('hex')}`);

/**
 * RFC 8017 §3.2: the product of the factors is the modulus, and each exponent inverts the public
 * one.
 */
const isRsaPair = (jwk: JsonWebKey): boolean => {
  const [n, e, d, p, q, dp, dq, qi] = [
    jwk.n,
    jwk.e,
    jwk.d,
    jwk.p,
    jwk.q,
    jwk.dp,
    jwk.dq,
    jwk.qi,
  ].map(toNumber) as [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];
  return (
    p > 2n &&
    q > 2n &&
    p * q === n &&
    [p - 1n, q - 1n].every((order) => (e * d) % order === 1n) &&
    dp === d % (p - 1n) &&
    dq === d % (q - 1n) &&
    (qi * q) % p === 1n
  );
};

/** RFC 5915 §3: the public point is the generator times the private scalar. */
const isEcPair = (bits: 224 | 256 | 384 | 521, key: KeyObject): boolean => {
  const fields = new DerReader(key.export({ type: 'sec1', format: 'der' })).enter();
  fields.read(TAG.integer);
  const own = createECDH(curveOfBits(bits).opensslName);
  own.setPrivateKey(fields.read(TAG.octetString).content);
  const point = publicKeyOctets(createPublicKey(key).export({ type: 'spki', format: 'der' }));
  const form = point[0] === UNCOMPRESSED ? 'uncompressed' : 'compressed';
  return own.getPublicKey(null, form).equals(point);
};

/**
 * Whether the private part belongs to the public one. OpenSSL does not verify the public part in an
 * RSA or EC key file, so it could be somebody else's public key.
 */
const isPair = (key: KeyObject, algorithm: KeyAlgorithm): boolean => {
  switch (algorithm.type) {
    case 'rsa':
      return isRsaPair(key.export({ format: 'jwk' }));
    case 'ec':
      return isEcPair(algorithm.bits, key);
    case 'ed25519':
      // Derived from the private part.
      return true;
  }
};

/**
 * The key pair of a private key in PKCS#8, PKCS#1 or SEC 1 format, DER, after checking that both
 * parts belong together.
 * @throws KeelsonError `pki.malformed`; `request.invalid` for unsupported algorithms
 */
export const parsePrivateKey = (der: Uint8Array): KeyPair => {
  const key = readKey(der);
  const algorithm = describeKey(key);
  let pair: KeyPair | undefined;
  try {
    pair = isPair(key, algorithm)
      ? {
          algorithm,
          publicKeyDer: createPublicKey(key).export({ type: 'spki', format: 'der' }),
          privateKeyDer: key.export({ type: 'pkcs8', format: 'der' }),
        }
      : undefined;
  } catch {
    // Numbers out of range. The cause is dropped, because it could quote them.
    throw malformed(UNREADABLE);
  }
  if (pair === undefined) throw malformed('the private and the public part of the key differ');
  requireNamedCurve(pair.publicKeyDer);
  return pair;
};

/** The algorithm of an EC key with an uncompressed point, DER; undefined for any other key. */
const algorithmOfWholePoint = (publicKeyDer: Uint8Array): Uint8Array | undefined => {
  if (publicKeyOctets(publicKeyDer)[0] !== UNCOMPRESSED) return undefined;
  const algorithm = new DerReader(publicKeyDer).enter().read(TAG.sequence);
  const isEc = new DerReader(algorithm.content).readObjectIdentifier() === EC_PUBLIC_KEY;
  return isEc ? algorithm.bytes : undefined;
};

/** True when both are the same public key, even if only one has a compressed point. */
export const isSamePublicKey = (oneDer: Uint8Array, otherDer: Uint8Array): boolean => {
  if (Buffer.from(oneDer).equals(otherDer)) return true;
  // An uncompressed point has only one encoding, and creating KeyObjects takes as long as a
  // signature.
  const algorithm = algorithmOfWholePoint(oneDer);
  const otherAlgorithm = algorithm && algorithmOfWholePoint(otherDer);
  if (algorithm && otherAlgorithm && Buffer.from(algorithm).equals(otherAlgorithm)) return false;
  const [one, other] = [parsePublicKey(oneDer), parsePublicKey(otherDer)];
  // `equals` throws for keys of different types.
  return one.asymmetricKeyType === other.asymmetricKeyType && one.equals(other);
};
