/** `data` of issued and signed certificates in the formats of reference §4.3 and §4.4. */
import type { Dialect } from '@keelson/proto/edge/v1/edge';
import { dialectRules, type JsonObject } from '@keelson/secrets-api';
import { encodePem, type KeyPair, toSerialHex } from '@keelson/x509';
import { base64, keyMembers, type Packaging, parcelText } from '../certificates/packaging.ts';
import type { IssuerInUse } from '../issuers/domain/authority.ts';
import { privateKeyText } from '../keys/private-key-text.ts';
import type { IssuedCertificate } from './signing-operations.ts';

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
  readonly packaging: Packaging;
  readonly privateKeyFormat: string;
  readonly removeRootsFromChain: boolean;
  /** The chain shows the certificate itself first. */
  readonly startsChain?: boolean;
  readonly dialect: Dialect;
}

const text = { type: 'string' } as const;

/** The description of an answer with `issuedDocument`. */
export const ISSUED = {
  data: {
    certificate: text,
    issuing_ca: text,
    ca_chain: { type: 'array', items: text },
    serial_number: text,
    expiration: { type: ['string', 'integer'], description: 'Unix time.' },
    private_key: { ...text, description: 'Absent if the request brought its own key.' },
    private_key_type: text,
  },
} as const;

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
    ca_chain: shown,
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
