/** The certificate of a client, and the roles for which it is good. */
import { matchesGlob } from '@keelson/secrets-api/glob';
import {
  ATTRIBUTE,
  attributeValues,
  DerReader,
  EXTENDED_KEY_USAGE,
  EXTENSION,
  findExtension,
  findTrustedPath,
  type ParsedCertificate,
  parseBasicConstraints,
  parseCertificate,
  parseExtendedKeyUsage,
  parseGeneralNames,
  parseName,
  readPemBlocks,
  toSerialKey,
} from '@keelson/x509';
import type { CertRole, RevocationList } from './cert-role.ts';

export interface ClientCertificate {
  readonly parsed: ParsedCertificate;
  /** Certificates that the client sent with it, which prove nothing. */
  readonly intermediates: readonly ParsedCertificate[];
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly organizationalUnits: readonly string[];
  readonly dns: readonly string[];
  readonly email: readonly string[];
  readonly uri: readonly string[];
}

/**
 * @param der that of the client
 * @param chain those that it sent with it
 * @throws KeelsonError `pki.malformed`
 */
export const readClientCertificate = (
  der: Uint8Array,
  chain: readonly Uint8Array[],
): ClientCertificate => {
  const parsed = parseCertificate(der);
  const subject = parseName(parsed.subject);
  const extension = findExtension(parsed.extensions, EXTENSION.subjectAltName);
  const names = extension === undefined ? [] : parseGeneralNames(extension.value);
  const ofKind = (kind: 'dns' | 'email' | 'uri') =>
    names.flatMap((name) => (name.kind === kind ? [name.value] : []));
  const [commonName = ''] = attributeValues(subject, ATTRIBUTE.commonName);
  return {
    parsed,
    intermediates: chain.map(parseCertificate),
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

const isOfClient = ({ extensions }: ParsedCertificate): boolean => {
  const extension = findExtension(extensions, EXTENSION.extendedKeyUsage);
  if (extension === undefined) return true;
  const usages = parseExtendedKeyUsage(extension.value);
  return usages.includes(EXTENDED_KEY_USAGE.ClientAuth) || usages.includes(EXTENDED_KEY_USAGE.Any);
};

const isSame = (left: Uint8Array, right: Uint8Array): boolean => Buffer.from(left).equals(right);

const isValidAt = ({ notBeforeMs, notAfterMs }: ParsedCertificate, nowMs: number): boolean =>
  notBeforeMs <= nowMs && nowMs <= notAfterMs;

/** Object identifiers of the extensions that a role judges or shows. */
const readByRole = ({ requiredExtensions, metadataExtensions }: CertRole): readonly string[] => [
  ...requiredExtensions.map((required) => required.replace(/^hex:/, '').split(':', 1)[0] ?? ''),
  ...metadataExtensions,
];

/**
 * The authorities from one of a role down to the one that has signed the certificate, which are none if it is itself
 * one of the certificates of the role; undefined if it is not trusted.
 */
const findPath = (
  role: CertRole,
  issuers: readonly ParsedCertificate[],
  { parsed, intermediates }: ClientCertificate,
  nowMs: number,
): readonly ParsedCertificate[] | undefined => {
  const trusted = Array.from(readPemBlocks(role.certificates), ({ der }) => parseCertificate(der));
  const anchors = trusted.filter(isAuthority);
  if (trusted.some((one) => !anchors.includes(one) && isSame(one.der, parsed.der))) return [];
  return findTrustedPath(parsed, {
    anchors: [...anchors, ...issuers],
    intermediates,
    usage: EXTENDED_KEY_USAGE.ClientAuth,
    nowMs,
    interpreted: readByRole(role),
  });
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

/**
 * The certificates that a login with a role depends on, that of the client first, whose key it has proven to hold;
 * undefined if it does not sign in with the role.
 * @param issuers authorities of this installation that the role names, trusted like those in it
 */
export const findChain = (
  role: CertRole,
  issuers: readonly ParsedCertificate[],
  certificate: ClientCertificate,
  nowMs: number,
): readonly ParsedCertificate[] | undefined => {
  const isGood =
    isValidAt(certificate.parsed, nowMs) &&
    !isAuthority(certificate.parsed) &&
    isOfClient(certificate.parsed) &&
    matchesNames(role, certificate) &&
    role.requiredExtensions.every((required) => hasExtension(certificate, required));
  const path = isGood ? findPath(role, issuers, certificate, nowMs) : undefined;
  return path && [certificate.parsed, ...path];
};

export const serialOf = ({ serialNumber }: ParsedCertificate): string => toSerialKey(serialNumber);

export const isAmong = (
  certificates: readonly ParsedCertificate[],
  { der }: ParsedCertificate,
): boolean => certificates.some((one) => isSame(one.der, der));

/** Whether a list has one of the certificates. */
export const isRevokedBy = (
  { issuer, serials }: RevocationList,
  chain: readonly ParsedCertificate[],
): boolean => {
  const name = Buffer.from(issuer, 'base64');
  return chain.some((one) => isSame(name, one.issuer) && serials.includes(serialOf(one)));
};

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
