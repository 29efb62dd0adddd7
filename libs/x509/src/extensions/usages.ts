/**
 * Extensions that restrict the use of a key: key usage, extended key usage, basic constraints (RFC
 * 5280 §4.2.1).
 */
import { DerReader } from '../der/der-reader.ts';
import { derTrue, integer, namedBits, sequence, TAG } from '../der/der-types.ts';
import { objectIdentifier } from '../der/object-identifier.ts';
import { EXTENSION, type Extension, extension } from './extension.ts';

/** Names in the order of their bits (RFC 5280 §4.2.1.3). */
export const KEY_USAGES = [
  'DigitalSignature',
  'ContentCommitment',
  'KeyEncipherment',
  'DataEncipherment',
  'KeyAgreement',
  'CertSign',
  'CRLSign',
  'EncipherOnly',
  'DecipherOnly',
] as const;
export type KeyUsage = (typeof KEY_USAGES)[number];

/** Critical, as RFC 5280 §4.2.1.3 recommends. */
export const keyUsage = (usages: readonly KeyUsage[]): Extension =>
  extension(EXTENSION.keyUsage, namedBits(usages.map((usage) => KEY_USAGES.indexOf(usage))), true);

/**
 * The usages of an extension's value; bits without a name are left out.
 * @throws KeelsonError `pki.malformed`
 */
export const parseKeyUsage = (value: Uint8Array): readonly KeyUsage[] =>
  new DerReader(value)
    .readNamedBits()
    .flatMap((bit) => (KEY_USAGES[bit] === undefined ? [] : [KEY_USAGES[bit]]));

export const EXTENDED_KEY_USAGE = {
  Any: '2.5.29.37.0',
  ServerAuth: '1.3.6.1.5.5.7.3.1',
  ClientAuth: '1.3.6.1.5.5.7.3.2',
  CodeSigning: '1.3.6.1.5.5.7.3.3',
  EmailProtection: '1.3.6.1.5.5.7.3.4',
  IPSECEndSystem: '1.3.6.1.5.5.7.3.5',
  IPSECTunnel: '1.3.6.1.5.5.7.3.6',
  IPSECUser: '1.3.6.1.5.5.7.3.7',
  TimeStamping: '1.3.6.1.5.5.7.3.8',
  OCSPSigning: '1.3.6.1.5.5.7.3.9',
  MicrosoftServerGatedCrypto: '1.3.6.1.4.1.311.10.3.3',
  NetscapeServerGatedCrypto: '2.16.840.1.113730.4.1',
  MicrosoftCommercialCodeSigning: '1.3.6.1.4.1.311.2.1.22',
  MicrosoftKernelCodeSigning: '1.3.6.1.4.1.311.61.1.1',
} as const;

/** RFC 5280 §4.2.1.12. @param oids dotted */
export const extendedKeyUsage = (oids: readonly string[], critical = false): Extension =>
  extension(EXTENSION.extendedKeyUsage, sequence(...oids.map(objectIdentifier)), critical);

/**
 * Dotted identifiers, in their order.
 * @throws KeelsonError `pki.malformed`
 */
export const parseExtendedKeyUsage = (value: Uint8Array): readonly string[] => {
  const reader = new DerReader(value).enter();
  const oids: string[] = [];
  while (!reader.atEnd) oids.push(reader.readObjectIdentifier());
  return oids;
};

export interface BasicConstraints {
  readonly isCa: boolean;
  /** Maximum number of intermediate certificates below this one; undefined means no limit. */
  readonly pathLength?: number | undefined;
}

/** RFC 5280 §4.2.1.9; critical. */
export const basicConstraints = ({ isCa, pathLength }: BasicConstraints): Extension =>
  extension(
    EXTENSION.basicConstraints,
    isCa
      ? sequence(derTrue(), ...(pathLength === undefined ? [] : [integer(pathLength)]))
      : sequence(),
    true,
  );

/** @throws KeelsonError `pki.malformed` */
export const parseBasicConstraints = (value: Uint8Array): BasicConstraints => {
  const reader = new DerReader(value).enter();
  const isCa = reader.readOptionalBoolean();
  return reader.nextTag === TAG.integer
    ? { isCa, pathLength: reader.readSmallInteger() }
    : { isCa };
};
