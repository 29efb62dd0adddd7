/** `data` of issued and signed certificates in the formats of reference §4.3 and §4.4. */
import { KeelsonError } from '@keelson/errors';
import type { Dialect } from '@keelson/proto/edge/v1/edge';
import { dialectRules, type JsonObject } from '@keelson/secrets-api';
import {
  ATTRIBUTE,
  attributeValues,
  checkStorePassword,
  encodeCertsOnly,
  encodeKeyStore,
  encodePem,
  type KeyPair,
  parseCertificate,
  parseName,
  toSerialHex,
  toTraditionalKey,
} from '@keelson/x509';
import type { IssuerInUse } from '../issuers/domain/authority.ts';
import type { IssuedCertificate } from './signing-operations.ts';

/** Formats of certificates and of requests. */
const FORMATS = ['pem', 'der', 'pem_bundle'] as const;
/** Those and the formats of certificates alone: PKCS #7 and PKCS #12. */
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

/** The form in which a certificate is handed out. */
export type Packaging =
  | { readonly format: Exclude<CertificateFormat, 'pkcs12'> }
  /** `friendlyName` is "" where it is the common name. */
  | { readonly format: 'pkcs12'; readonly password: string; readonly friendlyName: string };

const FRIENDLY_NAME = /^[^\p{Cc}]{0,255}$/u;

/**
 * The packaging that a request asks for. It is read before anything is signed: a refusal afterwards would
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

const PRIVATE_KEY_FORMATS = ['', 'der', 'pem', 'pkcs8'];

/** @throws KeelsonError `request.invalid` */
export const requirePrivateKeyFormat = (text: string): string => {
  if (!PRIVATE_KEY_FORMATS.includes(text))
    throw new KeelsonError('request.invalid', {
      text: 'the "private_key_format" parameter must be "der", "pem", or "pkcs8"',
    });
  return text;
};

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

/** A private key as `private_key`: traditional unless PKCS#8 is asked for. */
export const privateKeyText = (
  privateKeyDer: Uint8Array,
  format: Exclude<CertificateFormat, 'pkcs12'>,
  privateKeyFormat: string,
): string => {
  const { pemLabel, der } =
    privateKeyFormat === 'pkcs8'
      ? { pemLabel: 'PRIVATE KEY', der: privateKeyDer }
      : toTraditionalKey(privateKeyDer);
  return format === 'der' ? base64(der) : encodePem(pemLabel, der);
};

const bundle = (
  leafPem: string,
  chain: readonly IssuerInUse[],
  keyPair: KeyPair | undefined,
): string =>
  [
    ...(keyPair ? [privateKeyText(keyPair.privateKeyDer, 'pem', '')] : []),
    leafPem,
    ...chain.map(({ pem }) => pem),
  ].join('\n');

/** A certificate with its key and chain, handed out as one file. */
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

/** The private key beside the certificate; a PKCS #12 store has it in itself, under its password. */
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

export interface DocumentOptions {
  readonly packaging: Packaging;
  readonly privateKeyFormat: string;
  readonly removeRootsFromChain: boolean;
  /** The chain shows the certificate itself first. */
  readonly startsChain?: boolean;
  readonly dialect: Dialect;
}

export const issuedDocument = async (
  { der, serialNumber, notAfterMs, issuer, chain, keyPair }: IssuedCertificate,
  options: DocumentOptions,
): Promise<JsonObject> => {
  const { packaging } = options;
  const { format } = packaging;
  const rules = dialectRules(options.dialect);
  const bundled = rules.bundlesGeneratedRoot
    ? chain
    : chain.filter(({ issuer: { isGeneratedRoot } }) => isGeneratedRoot !== true);
  const one = (pem: string, certificateDer: Uint8Array): string =>
    format === 'der' ? base64(certificateDer) : pem;
  const leafPem = format === 'der' ? '' : encodePem('CERTIFICATE', der);
  const above = chain.filter(({ isSelfSigned }) => !(isSelfSigned && options.removeRootsFromChain));
  const shown = [
    ...(options.startsChain ? [one(leafPem, der)] : []),
    ...above.map(({ pem, certificate }) => one(pem, certificate.der)),
  ];
  const parcel = {
    certificateDer: der,
    chain: above.map(({ certificate }) => certificate.der),
    privateKeyDer: keyPair?.privateKeyDer,
  };
  return {
    ...(shown.length > 0 && { ca_chain: shown }),
    certificate:
      format === 'pem_bundle'
        ? bundle(leafPem, bundled, keyPair)
        : ((await parcelText(parcel, packaging)) ?? one(leafPem, der)),
    expiration: rules.expiration(notAfterMs / 1000),
    issuing_ca: one(issuer.pem, issuer.certificate.der),
    ...(keyPair &&
      keyMembers(
        { privateKeyDer: keyPair.privateKeyDer, type: keyPair.algorithm.type },
        packaging,
        options.privateKeyFormat,
      )),
    serial_number: toSerialHex(serialNumber),
  };
};
