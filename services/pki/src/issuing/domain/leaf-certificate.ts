/** The certificate a role makes from accepted names and a key (reference §4.7). */

import {
  basicConstraints,
  type CertificateFields,
  certificatePolicies,
  EXTENDED_KEY_USAGE,
  EXTENSION,
  type Extension,
  encodeName,
  extendedKeyUsage,
  keyIdentifierOf,
  keyUsage,
  subjectAltName,
  subjectKeyIdentifier,
  toDistinguishedName,
} from '@keelson/x509';
import type { AuthorityUrls } from '../../authority-urls/domain/authority-urls.ts';
import { parsePolicyIdentifiers } from '../../certificates/domain/policy-identifiers.ts';
import { toKeyUsages } from '../../certificates/domain/usage-names.ts';
import { issuerExtensions } from '../../issuers/domain/issuer-extensions.ts';
import { toGeneralNames } from '../../names/domain/alternative-names.ts';
import { extendedKeyUsagesOf, type Role } from '../../roles/domain/role.ts';
import { chooseKeyUsages } from './key-usage-choice.ts';
import type { CertificateNames } from './requested-names.ts';

export interface LeafRequest {
  readonly role: Role;
  readonly names: CertificateNames;
  readonly serialNumber: Uint8Array;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly publicKeyDer: Uint8Array;
  readonly issuerName: Uint8Array;
  readonly issuerKeyIdentifier: Uint8Array;
  readonly urls: AuthorityUrls;
}

/** RFC 6960 §4.2.2.2.1: clients do not ask a responder about its own certificate. */
const OCSP_NO_CHECK: Extension = {
  oid: EXTENSION.ocspNoCheck,
  critical: false,
  value: Buffer.from('0500', 'hex'),
};

/** RFC 3161 §2.3: that of a time-stamping authority is its only one, and critical. */
const extendedKeyUsageOf = (usages: readonly string[]): Extension =>
  extendedKeyUsage(usages, usages.length === 1 && usages[0] === EXTENDED_KEY_USAGE.TimeStamping);

const leafExtensions = (request: LeafRequest, isSubjectEmpty: boolean): readonly Extension[] => {
  const { role, names } = request;
  const extendedUsages = extendedKeyUsagesOf(role);
  const usages = chooseKeyUsages(
    role.keyUsage && toKeyUsages(role.keyUsage),
    request.publicKeyDer,
    extendedUsages,
  );
  const alternatives = toGeneralNames(names.alternatives);
  return [
    ...(usages.length > 0 ? [keyUsage(usages)] : []),
    ...(extendedUsages.length > 0 ? [extendedKeyUsageOf(extendedUsages)] : []),
    ...(extendedUsages.includes(EXTENDED_KEY_USAGE.OCSPSigning) ? [OCSP_NO_CHECK] : []),
    ...(role.basicConstraintsValidForNonCa ? [basicConstraints({ isCa: false })] : []),
    subjectKeyIdentifier(keyIdentifierOf(request.publicKeyDer)),
    ...issuerExtensions(request.issuerKeyIdentifier, request.urls),
    ...(alternatives.length > 0 ? [subjectAltName(alternatives, isSubjectEmpty)] : []),
    ...(role.policyIdentifiers.length > 0
      ? [certificatePolicies(parsePolicyIdentifiers(role.policyIdentifiers))]
      : []),
  ];
};

export const buildLeafCertificate = (request: LeafRequest): CertificateFields => {
  const { role, names } = request;
  const subject = toDistinguishedName({
    country: role.country,
    organization: role.organization,
    organizationalUnit: role.ou,
    locality: role.locality,
    province: role.province,
    streetAddress: role.streetAddress,
    postalCode: role.postalCode,
    commonName: names.commonName,
    serialNumber: names.serialNumber,
    userIds: names.userIds,
  });
  return {
    serialNumber: request.serialNumber,
    issuer: request.issuerName,
    subject: encodeName(subject),
    notBeforeMs: request.notBeforeMs,
    notAfterMs: request.notAfterMs,
    publicKeyDer: request.publicKeyDer,
    extensions: leafExtensions(request, subject.length === 0),
  };
};
