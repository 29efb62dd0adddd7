/**
 * Certificates of authorities: a root that signs itself, and an intermediate under an issuer (reference
 * §2.2, §4.8).
 */
import {
  basicConstraints,
  type CertificateFields,
  type CertificatePolicy,
  type CsrFields,
  certificatePolicies,
  EXTENSION,
  type Extension,
  encodeName,
  extendedKeyUsage,
  findExtension,
  KEY_USAGES,
  type KeyUsage,
  keyIdentifierOf,
  keyUsage,
  type NameSubtrees,
  nameConstraints,
  parseKeyUsage,
  type SubjectAttributes,
  subjectAltName,
  subjectKeyIdentifier,
  toDistinguishedName,
} from '@keelson/x509';
import type { AuthorityUrls } from '../../authority-urls/domain/authority-urls.ts';
import { type AlternativeNames, toGeneralNames } from '../../names/domain/alternative-names.ts';
import { issuerExtensions, withoutIssuerExtensions } from './issuer-extensions.ts';

/** Limits that a signer sets on an authority, and on everything below it. */
export interface CaLimits {
  readonly permitted: NameSubtrees;
  readonly excluded: NameSubtrees;
  /** Object identifiers; an empty list allows any usage. */
  readonly extendedKeyUsages: readonly string[];
  readonly policies: readonly CertificatePolicy[];
}

export interface CaSubject extends CaLimits {
  readonly attributes: SubjectAttributes;
  readonly alternatives: AlternativeNames;
  /** In addition to the two usages that every CA has. */
  readonly hasDigitalSignature: boolean;
}

interface CommonRequest {
  readonly subject: CaSubject;
  /** Undefined means no limit. */
  readonly pathLength: number | undefined;
  readonly serialNumber: Uint8Array;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly urls: AuthorityUrls;
}

export interface RootRequest extends CommonRequest {
  readonly publicKeyDer: Uint8Array;
}

export interface IntermediateRequest extends CommonRequest {
  readonly csr: CsrFields;
  /** Subject and alternative names are the CSR's, not those of `subject`; its limits always hold. */
  readonly useCsrValues: boolean;
  /** Undefined if it is computed from the key. */
  readonly keyIdentifier: Uint8Array | undefined;
  readonly issuerName: Uint8Array;
  readonly issuerKeyIdentifier: Uint8Array;
}

const caKeyUsage = ({ hasDigitalSignature }: CaSubject, more: readonly KeyUsage[]): Extension => {
  const wanted = new Set<KeyUsage>(['CertSign', 'CRLSign', ...more]);
  if (hasDigitalSignature) wanted.add('DigitalSignature');
  return keyUsage(KEY_USAGES.filter((usage) => wanted.has(usage)));
};

const alternativeNames = (subject: CaSubject, isSubjectEmpty: boolean): readonly Extension[] => {
  const alternatives = toGeneralNames(subject.alternatives);
  return alternatives.length > 0 ? [subjectAltName(alternatives, isSubjectEmpty)] : [];
};

/** The extensions of the limits; no limit is ever left out. */
export const limitExtensions = (limits: CaLimits): readonly Extension[] => {
  const { permitted, excluded, extendedKeyUsages, policies } = limits;
  const constraints = nameConstraints(permitted, excluded);
  return [
    ...(constraints === undefined ? [] : [constraints]),
    ...(extendedKeyUsages.length > 0 ? [extendedKeyUsage(extendedKeyUsages)] : []),
    ...(policies.length > 0 ? [certificatePolicies(policies)] : []),
  ];
};

export const buildRootCertificate = (request: RootRequest): CertificateFields => {
  const name = toDistinguishedName(request.subject.attributes);
  const keyIdentifier = keyIdentifierOf(request.publicKeyDer);
  return {
    serialNumber: request.serialNumber,
    issuer: encodeName(name),
    subject: encodeName(name),
    notBeforeMs: request.notBeforeMs,
    notAfterMs: request.notAfterMs,
    publicKeyDer: request.publicKeyDer,
    extensions: [
      caKeyUsage(request.subject, []),
      basicConstraints({ isCa: true, pathLength: request.pathLength }),
      subjectKeyIdentifier(keyIdentifier),
      ...issuerExtensions(keyIdentifier, request.urls),
      ...alternativeNames(request.subject, name.length === 0),
      ...limitExtensions(request.subject),
    ],
  };
};

/**
 * The requested extensions that are allowed; the caller adds those that every CA certificate has.
 * @param given extensions of the signer, which win over those of the CSR
 */
const takenFromCsr = (
  { csr, keyIdentifier }: IntermediateRequest,
  given: readonly Extension[],
): readonly Extension[] =>
  withoutIssuerExtensions(csr.extensions).filter(
    ({ oid }) =>
      oid !== EXTENSION.basicConstraints &&
      oid !== EXTENSION.keyUsage &&
      !(oid === EXTENSION.subjectKeyIdentifier && keyIdentifier !== undefined) &&
      findExtension(given, oid) === undefined,
  );

export const buildIntermediateCertificate = (request: IntermediateRequest): CertificateFields => {
  const { csr, subject, useCsrValues } = request;
  const name = toDistinguishedName(subject.attributes);
  const requestedUsage = useCsrValues && findExtension(csr.extensions, EXTENSION.keyUsage);
  const limits = limitExtensions(subject);
  const taken = useCsrValues
    ? takenFromCsr(request, limits)
    : alternativeNames(subject, name.length === 0);
  const keyIdentifier = request.keyIdentifier ?? keyIdentifierOf(csr.publicKeyDer);
  return {
    serialNumber: request.serialNumber,
    issuer: request.issuerName,
    subject: useCsrValues ? csr.subject : encodeName(name),
    notBeforeMs: request.notBeforeMs,
    notAfterMs: request.notAfterMs,
    publicKeyDer: csr.publicKeyDer,
    extensions: [
      caKeyUsage(subject, requestedUsage ? parseKeyUsage(requestedUsage.value) : []),
      basicConstraints({ isCa: true, pathLength: request.pathLength }),
      ...(findExtension(taken, EXTENSION.subjectKeyIdentifier) === undefined
        ? [subjectKeyIdentifier(keyIdentifier)]
        : []),
      ...issuerExtensions(request.issuerKeyIdentifier, request.urls),
      ...taken,
      ...limits,
    ],
  };
};
