/** Signature algorithms: their AlgorithmIdentifiers (RFC 3279, 4055, 5758, 8410) and their node:crypto form. */
import {
  constants,
  createPublicKey,
  sign as cryptoSign,
  verify as cryptoVerify,
  type KeyObject,
} from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { DerReader } from '../der/der-reader.ts';
import { derNull, explicit, integer, sequence, TAG } from '../der/der-types.ts';
import { type Der, encodeDer } from '../der/der-writer.ts';
import { objectIdentifier } from '../der/object-identifier.ts';
import { encodePem } from '../pem.ts';
import { describeKey, EC_PUBLIC_KEY, type KeyAlgorithm, NAMED_CURVES } from './key-algorithm.ts';

type HashBits = 256 | 384 | 512;
export type SignatureScheme = `${'rsa' | 'rsa-pss' | 'ecdsa'}-sha${HashBits}` | 'ed25519';

interface SchemeMeaning {
  readonly keyType: KeyAlgorithm['type'];
  /** Hash algorithm; undefined if the signature algorithm includes hashing. */
  readonly digest: `sha${HashBits}` | undefined;
  readonly pss: boolean;
  /** AlgorithmIdentifier, DER. */
  readonly identifier: Uint8Array;
}

const HASH_OIDS: Readonly<Record<HashBits, string>> = {
  256: '2.16.840.1.101.3.4.2.1',
  384: '2.16.840.1.101.3.4.2.2',
  512: '2.16.840.1.101.3.4.2.3',
};
const RSA_OIDS: Readonly<Record<HashBits, string>> = {
  256: '1.2.840.113549.1.1.11',
  384: '1.2.840.113549.1.1.12',
  512: '1.2.840.113549.1.1.13',
};
const ECDSA_OIDS: Readonly<Record<HashBits, string>> = {
  256: '1.2.840.10045.4.3.2',
  384: '1.2.840.10045.4.3.3',
  512: '1.2.840.10045.4.3.4',
};
const RSA_PSS_OID = '1.2.840.113549.1.1.10';
const MGF1_OID = '1.2.840.113549.1.1.8';

/** RFC 4055 §3.1: the salt is as long as the hash; trailerField has its default. */
const pssIdentifier = (bits: HashBits): Der => {
  const hash = sequence(objectIdentifier(HASH_OIDS[bits]), derNull());
  return sequence(
    objectIdentifier(RSA_PSS_OID),
    sequence(
      explicit(0, hash),
      explicit(1, sequence(objectIdentifier(MGF1_OID), hash)),
      explicit(2, integer(bits / 8)),
    ),
  );
};

const hashed = (bits: HashBits): Record<string, SchemeMeaning> => ({
  [`rsa-sha${bits}`]: {
    keyType: 'rsa',
    digest: `sha${bits}`,
    pss: false,
    identifier: encodeDer(sequence(objectIdentifier(RSA_OIDS[bits]), derNull())),
  },
  [`rsa-pss-sha${bits}`]: {
    keyType: 'rsa',
    digest: `sha${bits}`,
    pss: true,
    identifier: encodeDer(pssIdentifier(bits)),
  },
  [`ecdsa-sha${bits}`]: {
    keyType: 'ec',
    digest: `sha${bits}`,
    pss: false,
    identifier: encodeDer(sequence(objectIdentifier(ECDSA_OIDS[bits]))),
  },
});

const SCHEMES = {
  ...hashed(256),
  ...hashed(384),
  ...hashed(512),
  ed25519: {
    keyType: 'ed25519',
    digest: undefined,
    pss: false,
    identifier: encodeDer(sequence(objectIdentifier('1.3.101.112'))),
  },
} as Record<SignatureScheme, SchemeMeaning>;

export const SIGNATURE_SCHEMES = Object.keys(SCHEMES) as readonly SignatureScheme[];

/** AlgorithmIdentifier, DER. */
export const algorithmIdentifier = (scheme: SignatureScheme): Uint8Array =>
  SCHEMES[scheme].identifier;

/** Names of known but unsupported algorithms, and of those supported only with other parameters. */
const OTHER_ALGORITHMS: ReadonlyMap<string, string> = new Map([
  ['1.2.840.113549.1.1.4', 'RSA with MD5'],
  ['1.2.840.113549.1.1.5', 'RSA with SHA-1'],
  ['1.2.840.113549.1.1.14', 'RSA with SHA-224'],
  ['1.2.840.10045.4.1', 'ECDSA with SHA-1'],
  ['1.2.840.10045.4.3.1', 'ECDSA with SHA-224'],
  ['1.2.840.10040.4.3', 'DSA with SHA-1'],
  ['1.3.101.113', 'Ed448'],
  [RSA_PSS_OID, 'RSASSA-PSS with these parameters'],
]);

const describeAlgorithm = (identifierDer: Uint8Array): string => {
  const oid = new DerReader(identifierDer).enter().readObjectIdentifier();
  return OTHER_ALGORITHMS.get(oid) ?? oid;
};

/**
 * The scheme with this AlgorithmIdentifier. @throws KeelsonError `request.invalid` for others,
 * SHA-1 among them
 */
export const schemeOfIdentifier = (identifierDer: Uint8Array): SignatureScheme => {
  const found = SIGNATURE_SCHEMES.find((scheme) =>
    Buffer.from(SCHEMES[scheme].identifier).equals(identifierDer),
  );
  if (found === undefined)
    throw new KeelsonError('request.invalid', {
      text: `unsupported signature algorithm ${describeAlgorithm(identifierDer)}: RSA (PKCS #1 v1.5 or PSS) and ECDSA with SHA-256, SHA-384 or SHA-512, and Ed25519 are allowed`,
    });
  return found;
};

/** The type of key that signs by this scheme. */
export const keyTypeOfScheme = (scheme: SignatureScheme): KeyAlgorithm['type'] =>
  SCHEMES[scheme].keyType;

export interface SchemeChoice {
  /** Hash size for RSA keys: 256, 384 or 512; 0 means 256. For EC keys the curve determines it. */
  readonly signatureBits?: number;
  readonly usePss?: boolean;
}

/**
 * The scheme a key signs with.
 * @throws KeelsonError `request.invalid` for a hash size that does not exist
 */
export const chooseSignatureScheme = (
  key: KeyAlgorithm,
  { signatureBits = 0, usePss = false }: SchemeChoice = {},
): SignatureScheme => {
  if (![0, 256, 384, 512].includes(signatureBits))
    throw new KeelsonError('request.invalid', {
      text: `unsupported hash signature algorithm: ${signatureBits}`,
    });
  switch (key.type) {
    case 'ed25519':
      return 'ed25519';
    case 'ec':
      return key.bits === 521 ? 'ecdsa-sha512' : key.bits === 384 ? 'ecdsa-sha384' : 'ecdsa-sha256';
    case 'rsa':
      return `${usePss ? 'rsa-pss' : 'rsa'}-sha${(signatureBits || 256) as HashBits}`;
  }
};

const keyInput = (scheme: SignatureScheme, key: KeyObject) =>
  SCHEMES[scheme].pss
    ? {
        key,
        padding: constants.RSA_PKCS1_PSS_PADDING,
        saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
      }
    : key;

/** Input size above which even hashing runs on the thread pool. */
const MAX_INLINE_BYTES = 64 * 1024;

/** A private key with its signature scheme. */
export interface Signer {
  readonly scheme: SignatureScheme;
  /** Octets of the signature BIT STRING. */
  sign(data: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** A signer from a private key. RSA signs on the thread pool; EC and Ed25519 take less than the trip there. */
export const createSigner = (privateKey: KeyObject, scheme: SignatureScheme): Signer => {
  const { digest, keyType } = SCHEMES[scheme];
  const key = keyInput(scheme, privateKey);
  return {
    scheme,
    sign: (data) =>
      keyType !== 'rsa' && data.byteLength <= MAX_INLINE_BYTES
        ? cryptoSign(digest, data, key)
        : new Promise((resolve, reject) => {
            cryptoSign(digest, data, key, (error, signature) =>
              error ? reject(error) : resolve(signature),
            );
          }),
  };
};

/**
 * True when the private key of `publicKeyDer` (SubjectPublicKeyInfo) made the signature over
 * `data`.
 */
export const verifySignature = (
  scheme: SignatureScheme,
  publicKeyDer: Uint8Array,
  data: Uint8Array,
  signature: Uint8Array,
): boolean => verifyWithKey(scheme, parsePublicKey(publicKeyDer), data, signature);

/** The same for a key that already is a KeyObject: creating one costs as much as a verification. */
export const verifyWithKey = (
  scheme: SignatureScheme,
  key: KeyObject,
  data: Uint8Array,
  signature: Uint8Array,
): boolean =>
  key.asymmetricKeyType === SCHEMES[scheme].keyType &&
  cryptoVerify(SCHEMES[scheme].digest, data, keyInput(scheme, key), signature);

/**
 * Refuses an EC key with explicit curve parameters: RFC 5480 §2.1.1 allows only named curves, and
 * clients reject certificates with others.
 * @throws KeelsonError `pki.malformed`
 */
export const requireNamedCurve = (publicKeyDer: Uint8Array): void => {
  const algorithm = new DerReader(publicKeyDer).enter().enter();
  if (algorithm.readObjectIdentifier() === EC_PUBLIC_KEY && algorithm.nextTag === TAG.sequence)
    throw new KeelsonError('pki.malformed', {
      text: 'an EC key must name its curve and not spell out its parameters (RFC 5480 §2.1.1)',
    });
};

/**
 * A public key from SubjectPublicKeyInfo.
 * @throws KeelsonError `pki.malformed`, also for EC keys with explicit parameters
 */
export const parsePublicKey = (publicKeyDer: Uint8Array): KeyObject => {
  requireNamedCurve(publicKeyDer);
  try {
    // PEM takes half the time, because node:crypto then detects the format with less work.
    return createPublicKey(encodePem('PUBLIC KEY', publicKeyDer));
  } catch (cause) {
    throw new KeelsonError('pki.malformed', { text: 'malformed public key' }, { cause });
  }
};

/** AlgorithmIdentifiers of EC keys (RFC 5480 §2.1.1). */
const EC_IDENTIFIERS = NAMED_CURVES.map(({ bits, oid }) => ({
  bits,
  identifier: Buffer.from(
    encodeDer(sequence(objectIdentifier(EC_PUBLIC_KEY), objectIdentifier(oid))),
  ),
}));

/**
 * The algorithm of a public key given in both forms. The curve is read from the DER, because
 * node:crypto takes as long to report the curve of a KeyObject as to create the object.
 * @throws KeelsonError `pki.malformed`; `request.invalid` for unsupported algorithms
 */
export const describePublicKeyOf = (publicKeyDer: Uint8Array, key: KeyObject): KeyAlgorithm => {
  const identifier = new DerReader(publicKeyDer).enter().read(TAG.sequence).bytes;
  const curve = EC_IDENTIFIERS.find((known) => known.identifier.equals(identifier));
  return curve === undefined ? describeKey(key) : { type: 'ec', bits: curve.bits };
};
