/**
 * New key pairs, in the encodings that are stored and returned.
 *
 * EC keys are generated on the calling thread: scalar multiplication takes some 25 µs for P-256,
 * less than a trip to the thread pool, and encoding the DER here instead of exporting KeyObjects
 * halves the cost of a pair. RSA keys take from tens of milliseconds to seconds and come from the
 * thread pool.
 */
import { createECDH, type ECDH, generateKeyPair } from 'node:crypto';
import { DerReader } from '../der/der-reader.ts';
import { bitString, explicit, integer, octetString, sequence, TAG } from '../der/der-types.ts';
import { encodeDer } from '../der/der-writer.ts';
import { objectIdentifier } from '../der/object-identifier.ts';
import { curveOfBits, EC_PUBLIC_KEY, type KeyAlgorithm, NAMED_CURVES } from './key-algorithm.ts';

export interface KeyPair {
  readonly algorithm: KeyAlgorithm;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKeyDer: Uint8Array;
  /** PKCS#8, DER. Secret. */
  readonly privateKeyDer: Uint8Array;
}

// An ECDH object holds its curve; a new one per key would cost as much as the key.
const generators = new Map<number, ECDH>();

/** Private scalars have the length of the curve's order (RFC 5915 §3). */
const padScalar = (scalar: Uint8Array, bits: number): Uint8Array => {
  const padded = new Uint8Array(Math.ceil(bits / 8));
  padded.set(scalar, padded.byteLength - scalar.byteLength);
  return padded;
};

const generateEcKeyPair = (bits: 224 | 256 | 384 | 521): KeyPair => {
  const curve = curveOfBits(bits);
  const generator = generators.get(bits) ?? createECDH(curve.opensslName);
  generators.set(bits, generator);
  const point = generator.generateKeys();
  const scalar = padScalar(generator.getPrivateKey(), bits);
  const algorithm = sequence(objectIdentifier(EC_PUBLIC_KEY), objectIdentifier(curve.oid));
  return {
    algorithm: { type: 'ec', bits },
    publicKeyDer: encodeDer(sequence(algorithm, bitString(point))),
    privateKeyDer: encodeDer(
      sequence(
        integer(0),
        algorithm,
        octetString(
          encodeDer(sequence(integer(1), octetString(scalar), explicit(1, bitString(point)))),
        ),
      ),
    ),
  };
};

const ENCODINGS = {
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'der' },
} as const;

const generateOnThreadPool = (algorithm: Exclude<KeyAlgorithm, { type: 'ec' }>): Promise<KeyPair> =>
  new Promise((resolve, reject) => {
    const settle = (error: Error | null, publicKeyDer: Buffer, privateKeyDer: Buffer): void =>
      error ? reject(error) : resolve({ algorithm, publicKeyDer, privateKeyDer });
    if (algorithm.type === 'rsa')
      generateKeyPair('rsa', { modulusLength: algorithm.bits, ...ENCODINGS }, settle);
    else generateKeyPair('ed25519', ENCODINGS, settle);
  });

/** A new key pair. */
export const createKeyPair = async (algorithm: KeyAlgorithm): Promise<KeyPair> =>
  algorithm.type === 'ec' ? generateEcKeyPair(algorithm.bits) : generateOnThreadPool(algorithm);

/**
 * A private key in the format older than PKCS#8: PKCS#1 for RSA, SEC 1 for EC; Ed25519 has none.
 */
export interface TraditionalKey {
  readonly pemLabel: 'RSA PRIVATE KEY' | 'EC PRIVATE KEY' | 'PRIVATE KEY';
  readonly der: Uint8Array;
}

/** RFC 5915 §3: outside PKCS#8 the curve is named inside the key itself. */
const withCurve = (ecPrivateKey: Uint8Array, curveOid: string): Uint8Array => {
  const key = new DerReader(ecPrivateKey).enter();
  const version = key.read(TAG.integer).bytes;
  const scalar = key.read(TAG.octetString).bytes;
  const rest: Uint8Array[] = [];
  while (!key.atEnd) {
    const part = key.read();
    if (part.tag === 0xa1) rest.push(part.bytes);
  }
  return encodeDer(sequence(version, scalar, explicit(0, objectIdentifier(curveOid)), ...rest));
};

/** The traditional form of a PKCS#8 key. */
export const toTraditionalKey = (privateKeyDer: Uint8Array): TraditionalKey => {
  const pkcs8 = new DerReader(privateKeyDer).enter();
  pkcs8.readSmallInteger();
  const algorithm = pkcs8.enter();
  const oid = algorithm.readObjectIdentifier();
  const key = pkcs8.read(TAG.octetString).content;
  if (oid === '1.2.840.113549.1.1.1') return { pemLabel: 'RSA PRIVATE KEY', der: key };
  if (oid !== EC_PUBLIC_KEY) return { pemLabel: 'PRIVATE KEY', der: privateKeyDer };
  const curveOid = algorithm.readObjectIdentifier();
  if (!NAMED_CURVES.some((curve) => curve.oid === curveOid))
    return { pemLabel: 'PRIVATE KEY', der: privateKeyDer };
  return { pemLabel: 'EC PRIVATE KEY', der: withCurve(key, curveOid) };
};
