/** The certificate of a client, and the roles for which it is good. */
import {
  ATTRIBUTE,
  attributeValues,
  DerReader,
  EXTENDED_KEY_USAGE,
  EXTENSION,
  findExtension,
  isSignedBy,
  type ParsedCertificate,
  parseBasicConstraints,
  parseCertificate,
  parseExtendedKeyUsage,
  parseGeneralNames,
  parseKeyUsage,
  parseName,
  readPemBlocks,
  toSerialKey,
} from '@keelson/x509';
import { matchesGlob } from '../../providers/domain/claims.ts';
import type { CertRole, RevocationList } from './cert-role.ts';

export interface ClientCertificate {
  readonly parsed: ParsedCertificate;
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly organizationalUnits: readonly string[];
  readonly dns: readonly string[];
  readonly email: readonly string[];
  readonly uri: readonly string[];
}

/** @throws KeelsonError `pki.malformed` */
export const readClientCertificate = (der: Uint8Array): ClientCertificate => {
  const parsed = parseCertificate(der);
  const subject = parseName(parsed.subject);
  const extension = findExtension(parsed.extensions, EXTENSION.subjectAltName);
  const names = extension === undefined ? [] : parseGeneralNames(extension.value);
  const ofKind = (kind: 'dns' | 'email' | 'uri') =>
    names.flatMap((name) => (name.kind === kind ? [name.value] : []));
  const [commonName = ''] = attributeValues(subject, ATTRIBUTE.commonName);
  return {
    parsed,
    commonName,
    organizations: attributeValues(subject, ATTRIBUTE.organization),
    organizationalUnits: attributeValues(subject, ATTRIBUTE.organizationalUnit),
    dns: ofKind('dns'),
    email: ofKind('email'),
    uri: ofKind('uri'),
  };
};

const isAuthority = ({ extensions }: ParsedCertificate): boolean => {
  const extension = findExtension(extensions, EXTENSION.basicConstraints);
  return extension !== undefined && parseBasicConstraints(extension.value).isCa;
};

const maySign = ({ extensions }: ParsedCertificate): boolean => {
  const extension = findExtension(extensions, EXTENSION.keyUsage);
  return extension === undefined || parseKeyUsage(extension.value).includes('CertSign');
};

const isOfClient = ({ extensions }: ParsedCertificate): boolean => {
  const extension = findExtension(extensions, EXTENSION.extendedKeyUsage);
  if (extension === undefined) return true;
  const usages = parseExtendedKeyUsage(extension.value);
  return usages.includes(EXTENDED_KEY_USAGE.ClientAuth) || usages.includes(EXTENDED_KEY_USAGE.Any);
};

const isSame = (left: Uint8Array, right: Uint8Array): boolean => Buffer.from(left).equals(right);

const isValidAt = ({ notBeforeMs, notAfterMs }: ParsedCertificate, nowMs: number): boolean =>
  notBeforeMs <= nowMs && nowMs <= notAfterMs;

/** Whether it is one of the certificates of a role, or one of its authorities has signed it. */
const isTrusted = (
  { certificates }: CertRole,
  { parsed }: ClientCertificate,
  nowMs: number,
): boolean => {
  for (const { der } of readPemBlocks(certificates)) {
    const trusted = parseCertificate(der);
    if (!isAuthority(trusted)) {
      if (isSame(trusted.der, parsed.der)) return true;
    } else if (
      isSame(trusted.subject, parsed.issuer) &&
      isValidAt(trusted, nowMs) &&
      maySign(trusted) &&
      isSignedBy(parsed, trusted.publicKeyDer)
    )
      return true;
  }
  return false;
};

/** The text of an extension whose value is one of the string types of ASN.1. */
const textOf = (value: Uint8Array): string | undefined => {
  const STRING_TAGS = [0x0c, 0x13, 0x16];
  try {
    const reader = new DerReader(value);
    const { tag, content } = reader.read();
    reader.expectEnd();
    return STRING_TAGS.includes(tag) ? Buffer.from(content).toString() : undefined;
  } catch {
    return undefined;
  }
};

const hasExtension = ({ parsed }: ClientCertificate, required: string): boolean => {
  const isHex = required.startsWith('hex:');
  const [oid = '', ...pattern] = (isHex ? required.slice('hex:'.length) : required).split(':');
  const found = findExtension(parsed.extensions, oid);
  if (found === undefined) return false;
  if (isHex)
    return matchesGlob(pattern.join(':').toLowerCase(), Buffer.from(found.value).toString('hex'));
  const text = textOf(found.value);
  return text !== undefined && matchesGlob(pattern.join(':'), text);
};

const someMatch = (patterns: readonly string[], names: readonly string[]): boolean =>
  patterns.length === 0 ||
  patterns.some((pattern) => names.some((name) => matchesGlob(pattern, name)));

const matchesNames = (role: CertRole, certificate: ClientCertificate): boolean => {
  const { commonName, dns, email, uri, organizations, organizationalUnits } = certificate;
  return (
    someMatch(role.allowedNames, [commonName, ...dns, ...email]) &&
    someMatch(role.allowedCommonNames, [commonName]) &&
    someMatch(role.allowedDnsSans, dns) &&
    someMatch(role.allowedEmailSans, email) &&
    someMatch(role.allowedUriSans, uri) &&
    someMatch(role.allowedOrganizations, organizations) &&
    someMatch(role.allowedOrganizationalUnits, organizationalUnits)
  );
};

/** Whether a certificate, whose key the client has proven to hold, signs in with a role. */
export const isGoodFor = (role: CertRole, certificate: ClientCertificate, nowMs: number): boolean =>
  isValidAt(certificate.parsed, nowMs) &&
  !isAuthority(certificate.parsed) &&
  isOfClient(certificate.parsed) &&
  matchesNames(role, certificate) &&
  role.requiredExtensions.every((required) => hasExtension(certificate, required)) &&
  isTrusted(role, certificate, nowMs);

export const serialOf = ({ parsed }: ClientCertificate): string => toSerialKey(parsed.serialNumber);

export const isRevokedBy = (
  { issuer, serials }: RevocationList,
  certificate: ClientCertificate,
): boolean =>
  isSame(Buffer.from(issuer, 'base64'), certificate.parsed.issuer) &&
  serials.includes(serialOf(certificate));

/** Values of extensions that a role lets into the metadata, whose names have no dots. */
export const extensionMetadata = (
  { metadataExtensions }: CertRole,
  { parsed }: ClientCertificate,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    metadataExtensions.flatMap((oid) => {
      const found = findExtension(parsed.extensions, oid);
      const text = found && textOf(found.value);
      return text === undefined ? [] : [[oid.replaceAll('.', '-'), text]];
    }),
  );
