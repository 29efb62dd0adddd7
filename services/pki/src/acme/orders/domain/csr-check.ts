/** Checks that a CSR names exactly the ordered identifiers (RFC 8555 §7.4). */
import {
  ATTRIBUTE,
  attributeValues,
  type CsrFields,
  EXTENSION,
  findExtension,
  formatIpAddress,
  type GeneralName,
  isSamePublicKey,
  parseBasicConstraints,
  parseGeneralNames,
  parseIpAddress,
  parseName,
} from '@keelson/x509';
import { AcmeProblem } from '../../problems/problem.ts';
import type { Identifier } from './identifier.ts';

const refuse = (detail: string): never => {
  throw new AcmeProblem('badCSR', detail);
};

const key = ({ type, value }: Identifier): string => `${type}:${value.toLowerCase()}`;

const fromAlternativeName = (name: GeneralName): Identifier => {
  if (name.kind === 'dns' || name.kind === 'ip') return { type: name.kind, value: name.value };
  return refuse('the CSR asks for alternative names other than host names and addresses');
};

const fromCommonName = (text: string): Identifier => {
  const octets = parseIpAddress(text);
  const address = octets && formatIpAddress(octets);
  return address === undefined ? { type: 'dns', value: text } : { type: 'ip', value: address };
};

export interface CheckedCsr {
  /** The first common name; "" if there is none. */
  readonly commonName: string;
}

/**
 * @param accountKeyDer SubjectPublicKeyInfo of the account's key
 * @throws AcmeProblem `badCSR`
 */
export const checkOrderedCsr = (
  csr: CsrFields,
  identifiers: readonly Identifier[],
  accountKeyDer: Uint8Array,
): CheckedCsr => {
  const extension = findExtension(csr.extensions, EXTENSION.subjectAltName);
  const commonNames = attributeValues(parseName(csr.subject), ATTRIBUTE.commonName);
  const asked = [
    ...(extension === undefined ? [] : parseGeneralNames(extension.value)).map(fromAlternativeName),
    ...commonNames.map(fromCommonName),
  ].map(key);
  const ordered = new Set(identifiers.map(key));
  const extra = asked.find((name) => !ordered.has(name));
  if (extra !== undefined) refuse(`the CSR names ${extra}, which was not ordered`);
  const missing = [...ordered].find((name) => !asked.includes(name));
  if (missing !== undefined) refuse(`the CSR does not name ${missing}, which was ordered`);
  // RFC 8555 §11.1: the account key must not be used for anything else.
  if (isSamePublicKey(csr.publicKeyDer, accountKeyDer))
    refuse('the key of the CSR is that of the account');
  const constraints = findExtension(csr.extensions, EXTENSION.basicConstraints);
  if (constraints !== undefined && parseBasicConstraints(constraints.value).isCa)
    refuse('the CSR asks for a CA certificate');
  return { commonName: commonNames[0] ?? '' };
};

/**
 * RFC 8555 §7.4: a CSR may be refused if it requests an extension that the certificate will not
 * have. This one is refused, because the owner would rely on clients requiring a stapled status
 * (RFC 7633). Key usages are decided by the role.
 * @throws AcmeProblem `badCSR`
 */
export const refuseTlsFeature = ({ extensions }: Pick<CsrFields, 'extensions'>): void => {
  if (findExtension(extensions, EXTENSION.tlsFeature) !== undefined)
    refuse('the CSR asks for the TLS feature extension (must-staple), which is not issued');
};

/** Longest common name in a certificate (RFC 5280, ub-common-name). */
export const MAX_COMMON_NAME_LENGTH = 64;

/**
 * The common name when the role requires one and the CSR has none: the wildcard, else the first
 * host name, else the first address (reference §7.11); "" if none is short enough.
 */
export const chooseCommonName = (identifiers: readonly Identifier[]): string => {
  const fitting = identifiers.filter(({ value }) => value.length <= MAX_COMMON_NAME_LENGTH);
  const chosen =
    fitting.find(({ value }) => value.startsWith('*.')) ??
    fitting.find(({ type }) => type === 'dns') ??
    fitting[0];
  return chosen?.value ?? '';
};
