/**
 * The certificate that sign-verbatim creates: the contents of the CSR, except those that only an issuer may
 * set (reference §4.9).
 */
import { KeelsonError } from '@keelson/errors';
import {
  ATTRIBUTE,
  type CertificateFields,
  type CsrFields,
  EXTENSION,
  type Extension,
  encodeName,
  extendedKeyUsage,
  findExtension,
  type KeyUsage,
  keyIdentifierOf,
  keyUsage,
  parseBasicConstraints,
  parseExtendedKeyUsage,
  parseName,
  subjectKeyIdentifier,
} from '@keelson/x509';
import type { AuthorityUrls } from '../../authority-urls/domain/authority-urls.ts';
import {
  issuerExtensions,
  withoutIssuerExtensions,
} from '../../issuers/domain/issuer-extensions.ts';
import { chooseKeyUsages } from './key-usage-choice.ts';

export interface VerbatimRequest {
  readonly csr: CsrFields;
  /** For CSRs without the extension; undefined means the default of the key's type. */
  readonly defaultKeyUsages: readonly KeyUsage[] | undefined;
  /** For CSRs without the extension. */
  readonly defaultExtendedKeyUsages: readonly string[];
  readonly userIds: readonly string[];
  readonly serialNumber: Uint8Array;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly issuerName: Uint8Array;
  readonly issuerKeyIdentifier: Uint8Array;
  readonly urls: AuthorityUrls;
}

/** @throws KeelsonError `request.invalid` for a CSR that asks for a CA certificate */
const refuseCa = (csr: CsrFields): void => {
  const constraints = findExtension(csr.extensions, EXTENSION.basicConstraints);
  if (constraints !== undefined && parseBasicConstraints(constraints.value).isCa)
    throw new KeelsonError('request.invalid', {
      text: 'refusing to sign a CSR with CA:TRUE basic constraints; use sign-intermediate instead',
    });
};

const subjectOf = ({ csr, userIds }: VerbatimRequest): Uint8Array =>
  userIds.length === 0
    ? csr.subject
    : encodeName([
        ...parseName(csr.subject),
        ...[...new Set(userIds)].map((value) => [{ type: ATTRIBUTE.userId, value }]),
      ]);

export const buildVerbatimCertificate = (request: VerbatimRequest): CertificateFields => {
  const { csr } = request;
  refuseCa(csr);
  const kept = withoutIssuerExtensions(csr.extensions);
  const lacks = (oid: string): boolean => findExtension(kept, oid) === undefined;
  const ofCsr = findExtension(kept, EXTENSION.extendedKeyUsage);
  const usages = chooseKeyUsages(
    request.defaultKeyUsages,
    csr.publicKeyDer,
    ofCsr === undefined ? request.defaultExtendedKeyUsages : parseExtendedKeyUsage(ofCsr.value),
  );
  const added: readonly Extension[] = [
    ...(lacks(EXTENSION.keyUsage) && usages.length > 0 ? [keyUsage(usages)] : []),
    ...(lacks(EXTENSION.extendedKeyUsage) && request.defaultExtendedKeyUsages.length > 0
      ? [extendedKeyUsage(request.defaultExtendedKeyUsages)]
      : []),
    ...(lacks(EXTENSION.subjectKeyIdentifier)
      ? [subjectKeyIdentifier(keyIdentifierOf(csr.publicKeyDer))]
      : []),
    ...issuerExtensions(request.issuerKeyIdentifier, request.urls),
  ];
  return {
    serialNumber: request.serialNumber,
    issuer: request.issuerName,
    subject: subjectOf(request),
    notBeforeMs: request.notBeforeMs,
    notAfterMs: request.notAfterMs,
    publicKeyDer: csr.publicKeyDer,
    extensions: [...kept, ...added],
  };
};
