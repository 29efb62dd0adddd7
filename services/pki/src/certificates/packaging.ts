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
  parseCertificate,
  parseName,
  toSerialHex,
} from '@keelson/x509';
import { privateKeyText } from '../keys/private-key-text.ts';

/** Parameters that choose the form. */
export const PACKAGING_FIELDS = {
  format: field.string({
    default: 'pem',
    description: 'pem, der, pem_bundle, p7b (PKCS #7) or pkcs12.',
  }),
  password: field.string({
    default: '',
    description: 'Password of the PKCS #12 store: 6 to 128 printable ASCII characters.',
  }),
  friendly_name: field.string({
    default: '',
    description: 'Name of the entry in the PKCS #12 store; the common name when not given.',
  }),
};

/** Formats of certificates and of requests. */
const FORMATS = ['pem', 'der', 'pem_bundle'] as const;
/** Formats of certificates, including PKCS #7 and PKCS #12. */
const CERTIFICATE_FORMATS = [...FORMATS, 'p7b', 'pkcs12'] as const;
type Format = (typeof FORMATS)[number];
export type CertificateFormat = (typeof CERTIFICATE_FORMATS)[number];

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
  | { readonly format: Exclude<CertificateFormat, 'pkcs12'> }
  /** `friendlyName` is "" where it is the common name. */
  | { readonly format: 'pkcs12'; readonly password: string; readonly friendlyName: string };

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
  if (format !== 'pkcs12') {
    if (password !== '' || friendlyName !== '')
      throw new KeelsonError('request.invalid', {
        text: 'the parameters "password" and "friendly_name" are for the format "pkcs12" only',
      });
    return { format };
  }
  checkStorePassword(password);
  if (!FRIENDLY_NAME.test(friendlyName))
    throw new KeelsonError('request.invalid', {
      text: 'the "friendly_name" must have at most 255 characters and no control characters',
    });
  return { format, password, friendlyName };
};

export const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

/** A certificate with its key and chain, returned as one file. */
export interface Parcel {
  readonly certificateDer: Uint8Array;
  /** The issuer first. */
  readonly chain: readonly Uint8Array[];
  /** PKCS #8. undefined: the caller has the key. */
  readonly privateKeyDer: Uint8Array | undefined;
}

/** Certificates in PKCS #7 form, the certificate itself first, PEM. */
const toCertsOnlyPem = ({ certificateDer, chain }: Parcel): string =>
  encodePem('PKCS7', encodeCertsOnly([certificateDer, ...chain]));

/** A certificate, its chain and its key in PKCS #12 form, base64. */
const toKeyStoreText = async (
  { certificateDer, chain, privateKeyDer }: Parcel,
  { password, friendlyName }: { readonly password: string; readonly friendlyName: string },
): Promise<string> => {
  const { subject, serialNumber } = parseCertificate(certificateDer);
  const [commonName = toSerialHex(serialNumber)] = attributeValues(
    parseName(subject),
    ATTRIBUTE.commonName,
  );
  const store = { certificateDer, chain, privateKeyDer, password };
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
