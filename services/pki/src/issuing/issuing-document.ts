/** `data` of issued and signed certificates in the formats of reference §4.3 and §4.4. */
import { KeelsonError } from '@keelson/errors';
import type { Dialect } from '@keelson/proto/edge/v1/edge';
import { dialectRules, type JsonObject } from '@keelson/secrets-api';
import { encodePem, type KeyPair, toSerialHex, toTraditionalKey } from '@keelson/x509';
import type { IssuerInUse } from '../issuers/domain/authority.ts';
import type { IssuedCertificate } from './signing-operations.ts';

const FORMATS = ['pem', 'der', 'pem_bundle'] as const;
export type CertificateFormat = (typeof FORMATS)[number];

/** @throws KeelsonError `request.invalid` */
export const requireFormat = (text: string): CertificateFormat => {
  const format = FORMATS.find((candidate) => candidate === text);
  if (format === undefined)
    throw new KeelsonError('request.invalid', {
      text: 'the "format" path parameter must be "pem", "der", or "pem_bundle"',
    });
  return format;
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
  format: CertificateFormat,
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

export interface DocumentOptions {
  readonly format: CertificateFormat;
  readonly privateKeyFormat: string;
  readonly removeRootsFromChain: boolean;
  /** The chain shows the certificate itself first. */
  readonly startsChain?: boolean;
  readonly dialect: Dialect;
}

export const issuedDocument = (
  { der, serialNumber, notAfterMs, issuer, chain, keyPair }: IssuedCertificate,
  options: DocumentOptions,
): JsonObject => {
  const { format } = options;
  const rules = dialectRules(options.dialect);
  const bundled = rules.bundlesGeneratedRoot
    ? chain
    : chain.filter(({ issuer: { isGeneratedRoot } }) => isGeneratedRoot !== true);
  const one = (pem: string, certificateDer: Uint8Array): string =>
    format === 'der' ? base64(certificateDer) : pem;
  const leafPem = format === 'der' ? '' : encodePem('CERTIFICATE', der);
  const shown = [
    ...(options.startsChain ? [one(leafPem, der)] : []),
    ...chain
      .filter(({ isSelfSigned }) => !(isSelfSigned && options.removeRootsFromChain))
      .map(({ pem, certificate }) => one(pem, certificate.der)),
  ];
  return {
    ...(shown.length > 0 && { ca_chain: shown }),
    certificate: format === 'pem_bundle' ? bundle(leafPem, bundled, keyPair) : one(leafPem, der),
    expiration: rules.expiration(notAfterMs / 1000),
    issuing_ca: one(issuer.pem, issuer.certificate.der),
    ...(keyPair && {
      private_key: privateKeyText(keyPair.privateKeyDer, format, options.privateKeyFormat),
      private_key_type: keyPair.algorithm.type,
    }),
    serial_number: toSerialHex(serialNumber),
  };
};
