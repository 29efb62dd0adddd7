/** Supported key algorithms of certificates, and their names in requests and records. */
import type { KeyObject } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { DerReader } from '../der/der-reader.ts';

export type KeyAlgorithm =
  | { readonly type: 'rsa'; readonly bits: number }
  | { readonly type: 'ec'; readonly bits: 224 | 256 | 384 | 521 }
  | { readonly type: 'ed25519' };

export interface NamedCurve {
  readonly bits: 224 | 256 | 384 | 521;
  /** Name in node:crypto. */
  readonly opensslName: string;
  readonly oid: string;
}

/** id-ecPublicKey (RFC 5480 §2.1.1). */
export const EC_PUBLIC_KEY = '1.2.840.10045.2.1';

export const NAMED_CURVES: readonly NamedCurve[] = [
  { bits: 224, opensslName: 'secp224r1', oid: '1.3.132.0.33' },
  { bits: 256, opensslName: 'prime256v1', oid: '1.2.840.10045.3.1.7' },
  { bits: 384, opensslName: 'secp384r1', oid: '1.3.132.0.34' },
  { bits: 521, opensslName: 'secp521r1', oid: '1.3.132.0.35' },
];

export const curveOfBits = (bits: number): NamedCurve => {
  const curve = NAMED_CURVES.find((candidate) => candidate.bits === bits);
  if (curve === undefined)
    throw new KeelsonError('request.invalid', { text: `unsupported EC key size ${bits}` });
  return curve;
};

const unsupportedType = (type: string): KeelsonError =>
  new KeelsonError('request.invalid', {
    text: `unsupported key type ${type}: rsa, ec and ed25519 are allowed`,
  });

/**
 * The algorithm of a private or public key.
 * @throws KeelsonError `request.invalid` for unsupported algorithms (DSA, X25519, other curves)
 */
export const describeKey = (key: KeyObject): KeyAlgorithm => {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'rsa') return { type: 'rsa', bits: details?.modulusLength ?? 0 };
  if (type === 'ed25519') return { type: 'ed25519' };
  if (type === 'ec') {
    const curve = NAMED_CURVES.find(({ opensslName }) => opensslName === details?.namedCurve);
    if (curve !== undefined) return { type: 'ec', bits: curve.bits };
    throw new KeelsonError('request.invalid', {
      text: `unsupported EC curve ${details?.namedCurve ?? 'without a name'}: P-224, P-256, P-384 and P-521 are allowed`,
    });
  }
  throw unsupportedType(type ?? 'unknown');
};

const TYPES_BY_OID: ReadonlyMap<string, KeyAlgorithm['type']> = new Map([
  ['1.2.840.113549.1.1.1', 'rsa'],
  [EC_PUBLIC_KEY, 'ec'],
  ['1.3.101.112', 'ed25519'],
]);

/**
 * The type of a public key, read from its encoding.
 * @param publicKeyDer SubjectPublicKeyInfo
 * @throws KeelsonError `pki.malformed`; `request.invalid` for unsupported types
 */
export const publicKeyType = (publicKeyDer: Uint8Array): KeyAlgorithm['type'] => {
  const oid = new DerReader(publicKeyDer).enter().enter().readObjectIdentifier();
  const type = TYPES_BY_OID.get(oid);
  if (type === undefined) throw unsupportedType(oid);
  return type;
};

export const KEY_SIZES = { rsa: [2048, 3072, 4096, 8192], ec: [224, 256, 384, 521] } as const;

/**
 * A key algorithm from its type and size as requests name them; 0 bits means the type's default
 * size.
 * @throws KeelsonError `request.invalid`
 */
export const toKeyAlgorithm = (type: string, bits: number): KeyAlgorithm => {
  const invalid = (): KeelsonError =>
    new KeelsonError('request.invalid', {
      text: `unsupported bit length for ${type.toUpperCase()} key: ${bits}`,
    });
  switch (type) {
    case 'rsa':
      if (bits !== 0 && !KEY_SIZES.rsa.some((size) => size === bits)) throw invalid();
      return { type, bits: bits || 2048 };
    case 'ec': {
      const size = KEY_SIZES.ec.find((candidate) => candidate === (bits || 256));
      if (size === undefined) throw invalid();
      return { type, bits: size };
    }
    case 'ed25519':
      return { type };
    default:
      throw new KeelsonError('request.invalid', { text: `unknown key type ${type}` });
  }
};

/** Size in bits; 0 for Ed25519, whose size is fixed. */
export const keyBits = (algorithm: KeyAlgorithm): number =>
  algorithm.type === 'ed25519' ? 0 : algorithm.bits;
