/** The formats in which certificates are returned (reference §4.3, §4.4). */
import { KeelsonError } from '@keelson/errors';
import { field, type JsonObject } from '@keelson/secrets-api';
import {
  ATTRIBUTE,
  attributeValues,
  checkStorePassword,
  encodeCertsOnly,
  encodeKeyStore,
  encodePem,
  type KeyStoreAlgorithms,
  parseCertificate,
  parseName,
  toSerialHex,
} from '@keelson/x509';
import { privateKeyText } from '../keys/private-key-text.ts';

/** Parameters that choose the form. */
export const PACKAGING_FIELDS = {
  format: field.string({
    default: 'pem',
    description:
      'pem, der, pem_bundle, p7b (PKCS #7), pkcs12, or pkcs12_legacy (Triple DES and SHA-1, for programs that read nothing newer).',
  }),
  password: field.string({
    default: '',
    description:
      'Password of the PKCS #12 store: 6 to 128 printable ASCII characters, because Java opens no store under another.',
  }),
  friendly_name: field.string({
    default: '',
    description: 'Name of the entry in the PKCS #12 store; the common name when not given.',
  }),
};

/** Formats of certificates and of requests. */
const FORMATS = ['pem', 'der', 'pem_bundle'] as const;
/** Formats of PKCS #12 stores, with their algorithms. */
const STORE_ALGORITHMS = { pkcs12: 'current', pkcs12_legacy: 'legacy' } as const;
type StoreFormat = keyof typeof STORE_ALGORITHMS;
/** Formats of certificates, including PKCS #7 and PKCS #12. */
const CERTIFICATE_FORMATS = [...FORMATS, 'p7b', 'pkcs12', 'pkcs12_legacy'] as const;
type Format = (typeof FORMATS)[number];
export type CertificateFormat = (typeof CERTIFICATE_FORMATS)[number];

/** Whether a format is a store under a password. */
export const isStoreFormat = (format: string): format is StoreFormat =>
  Object.hasOwn(STORE_ALGORITHMS, format);

const requireOneOf = <const T extends string>(formats: readonly T[], text: string): T => {
  const format = formats.find((candidate) => candidate === text);
  if (format === undefined) {
    const [last, ...others] = formats.map((name) => `"${name}"`).toReversed();
    throw new KeelsonError('request.invalid', {
      text: `the "format" path parameter must be ${others.toReversed().join(', ')}, or ${last}`,
    });
  }
  return format;
};

/** @throws KeelsonError `request.invalid` */
export const requireRequestFormat = (text: string): Format => requireOneOf(FORMATS, text);

/** The format in which a certificate is returned. */
export type Packaging =
  | { readonly format: Exclude<CertificateFormat, StoreFormat> }
  | StorePackaging;

interface StorePackaging {
  readonly format: 'pkcs12';
  readonly algorithms: KeyStoreAlgorithms;
  readonly password: string;
  /** "" where it is the common name. */
  readonly friendlyName: string;
}

const FRIENDLY_NAME = /^[^\p{Cc}]{0,255}$/u;

/**
 * The requested packaging. It is read before anything is signed: a refusal afterwards would
 * leave a certificate behind.
 * @throws KeelsonError `request.invalid`
 */
export const readPackaging = (fields: {
  readonly format: string;
  readonly password?: string;
  readonly friendly_name?: string;
}): Packaging => {
  const { password = '', friendly_name: friendlyName = '' } = fields;
  const format = requireOneOf(CERTIFICATE_FORMATS, fields.format);
  if (!isStoreFormat(format)) {
    if (password !== '' || friendlyName !== '')
      throw new KeelsonError('request.invalid', {
        text: 'the parameters "password" and "friendly_name" are for the formats "pkcs12" and "pkcs12_legacy" only',
      });
    return { format };
  }
  checkStorePassword(password);
  if (!FRIENDLY_NAME.test(friendlyName))
    throw new KeelsonError('request.invalid', {
      text: 'the "friendly_name" must have at most 255 characters and no control characters',
    });
  return { format: 'pkcs12', algorithms: STORE_ALGORITHMS[format], password, friendlyName };
};

export const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

/** A certificate with its key and chain, returned as one file. */
export interface Parcel {
  readonly certificateDer: Uint8Array;
  /** CA certificates, starting with the issuer. */
  readonly chain: readonly Uint8Array[];
  /** PKCS #8. Undefined if the caller has the key. */
  readonly privateKeyDer: Uint8Array | undefined;
}

/** Certificates in PKCS #7 form, the certificate itself first, PEM. */
const toCertsOnlyPem = ({ certificateDer, chain }: Parcel): string =>
  encodePem('PKCS7', encodeCertsOnly([certificateDer, ...chain]));

/** A certificate, its chain and its key in PKCS #12 form, base64. */
const toKeyStoreText = async (
  { certificateDer, chain, privateKeyDer }: Parcel,
  { password, friendlyName, algorithms }: StorePackaging,
): Promise<string> => {
  const { subject, serialNumber } = parseCertificate(certificateDer);
  const [commonName = toSerialHex(serialNumber)] = attributeValues(
    parseName(subject),
    ATTRIBUTE.commonName,
  );
  const store = { certificateDer, chain, privateKeyDer, password, algorithms };
  return base64(await encodeKeyStore({ ...store, friendlyName: friendlyName || commonName }));
};

/**
 * The `certificate` of the formats that hold more than one.
 * @returns undefined for the other formats
 */
export const parcelText = async (
  parcel: Parcel,
  packaging: Packaging,
): Promise<string | undefined> => {
  switch (packaging.format) {
    case 'p7b':
      return toCertsOnlyPem(parcel);
    case 'pkcs12':
      return toKeyStoreText(parcel, packaging);
    case 'pem':
    case 'der':
    case 'pem_bundle':
      return undefined;
  }
};

/** Members for the private key. A PKCS #12 store contains the key, so it is not repeated. */
export const keyMembers = (
  { privateKeyDer, type }: { readonly privateKeyDer: Uint8Array; readonly type: string },
  { format }: Packaging,
  privateKeyFormat: string,
): JsonObject => ({
  ...(format !== 'pkcs12' && {
    private_key: privateKeyText(privateKeyDer, format, privateKeyFormat),
  }),
  private_key_type: type,
});
