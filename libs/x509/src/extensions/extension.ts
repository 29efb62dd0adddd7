/** One extension and the identifiers of those this library knows (RFC 5280 §4.2, RFC 6960). */
import { KeelsonError } from '@keelson/errors';
import type { DerReader } from '../der/der-reader.ts';
import { derTrue, octetString, sequence, TAG } from '../der/der-types.ts';
import { type Der, encodeDer } from '../der/der-writer.ts';
import { objectIdentifier } from '../der/object-identifier.ts';

export interface Extension {
  /** Dotted. */
  readonly oid: string;
  readonly critical: boolean;
  /** DER inside the extnValue octet string. */
  readonly value: Uint8Array;
}

export const EXTENSION = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  crlNumber: '2.5.29.20',
  reasonCode: '2.5.29.21',
  deltaCrlIndicator: '2.5.29.27',
  issuingDistributionPoint: '2.5.29.28',
  nameConstraints: '2.5.29.30',
  crlDistributionPoints: '2.5.29.31',
  certificatePolicies: '2.5.29.32',
  policyMappings: '2.5.29.33',
  authorityKeyIdentifier: '2.5.29.35',
  policyConstraints: '2.5.29.36',
  extendedKeyUsage: '2.5.29.37',
  freshestCrl: '2.5.29.46',
  inhibitAnyPolicy: '2.5.29.54',
  authorityInformationAccess: '1.3.6.1.5.5.7.1.1',
  /** RFC 6960 §4.2.2.2.1. */
  ocspNoCheck: '1.3.6.1.5.5.7.48.1.5',
  /** RFC 7633. */
  tlsFeature: '1.3.6.1.5.5.7.1.24',
} as const;

export const extension = (oid: string, value: Der, critical = false): Extension => ({
  oid,
  critical,
  value: encodeDer(value),
});

/** The Extensions SEQUENCE. */
export const extensionsSequence = (extensions: readonly Extension[]): Der =>
  sequence(
    ...extensions.map(({ oid, critical, value }) =>
      critical
        ? sequence(objectIdentifier(oid), derTrue(), octetString(value))
        : sequence(objectIdentifier(oid), octetString(value)),
    ),
  );

const MAX_EXTENSION_COUNT = 100;

/**
 * Extensions from the content reader of an Extensions SEQUENCE.
 * @throws KeelsonError `pki.malformed`; also when an extension occurs twice (RFC 5280 §4.2)
 */
export const parseExtensions = (reader: DerReader): readonly Extension[] => {
  const extensions: Extension[] = [];
  const seen = new Set<string>();
  while (!reader.atEnd) {
    const fields = reader.enter();
    const oid = fields.readObjectIdentifier();
    const critical = fields.readOptionalBoolean();
    const value = fields.read(TAG.octetString).content;
    fields.expectEnd();
    if (seen.has(oid) || extensions.length >= MAX_EXTENSION_COUNT)
      throw new KeelsonError('pki.malformed', { text: 'repeated extension or too many of them' });
    seen.add(oid);
    extensions.push({ oid, critical, value });
  }
  return extensions;
};

/** The first extension with this object identifier (dotted). */
export const findExtension = (
  extensions: readonly Extension[],
  oid: string,
): Extension | undefined => extensions.find((candidate) => candidate.oid === oid);
