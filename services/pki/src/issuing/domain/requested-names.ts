/**
 * The names of a certificate from what a request and its CSR ask for, held against the role. One name
 * that the role does not let in refuses the whole request (reference §3.2, §3.3, §4.6).
 */
import { KeelsonError } from '@keelson/errors';
import { type GeneralName, parseIpAddress, parseIpRange } from '@keelson/x509';
import { matchesGlob } from '../../roles/domain/glob.ts';
import { isHostname, toAsciiHostname } from '../../roles/domain/hostname.ts';
import {
  acceptsCommonName,
  acceptsName,
  expandTemplates,
  type TemplateValues,
} from '../../roles/domain/name-acceptance.ts';
import type { Role } from '../../roles/domain/role.ts';
import { checkOtherNames, type OtherName, parseOtherName } from './other-name.ts';

/** What the body of a request names. */
export interface NameParameters {
  readonly commonName: string;
  readonly altNames: readonly string[];
  readonly ipSans: readonly string[];
  readonly uriSans: readonly string[];
  readonly otherSans: readonly string[];
  readonly serialNumber: string;
  readonly userIds: readonly string[];
  readonly excludeCnFromSans: boolean;
}

/** What a CSR names. */
export interface CsrNames {
  readonly commonName: string;
  readonly serialNumber: string;
  readonly dns: readonly string[];
  readonly emails: readonly string[];
  readonly ips: readonly string[];
  readonly uris: readonly string[];
  readonly others: readonly OtherName[];
}

export interface AlternativeNames {
  readonly dns: readonly string[];
  readonly emails: readonly string[];
  readonly ips: readonly string[];
  readonly uris: readonly string[];
  readonly others: readonly OtherName[];
}

export interface CertificateNames {
  readonly commonName: string;
  readonly serialNumber: string;
  readonly userIds: readonly string[];
  readonly alternatives: AlternativeNames;
  readonly warnings: readonly string[];
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const unique = (values: readonly string[]): readonly string[] => [...new Set(values)];

interface HostAndMailNames {
  readonly dns: readonly string[];
  readonly emails: readonly string[];
}

/** E-mail addresses and host names apart; what is neither is left out. */
const splitNames = (names: readonly string[]): HostAndMailNames => {
  const dns: string[] = [];
  const emails: string[] = [];
  for (const name of names) {
    if (name.includes('@')) emails.push(name);
    else {
      const ascii = toAsciiHostname(name);
      if (ascii !== undefined && (isHostname(ascii) || ascii.includes('*'))) dns.push(ascii);
    }
  }
  return { dns, emails };
};

/** Names from the body: addresses parsed, others sorted by kind. */
export const parseAlternativeNames = (
  parameters: Pick<NameParameters, 'altNames' | 'ipSans' | 'uriSans' | 'otherSans'>,
): AlternativeNames => {
  const bad = parameters.ipSans.find((text) => parseIpAddress(text) === undefined);
  if (bad !== undefined) refuse(`the value "${bad}" is not a valid IP address`);
  const badUri = parameters.uriSans.find((text) => !URL.canParse(text));
  if (badUri !== undefined) refuse(`the provided URI "${badUri}" is not a valid URI`);
  return {
    ...splitNames(parameters.altNames),
    ips: parameters.ipSans,
    uris: parameters.uriSans,
    others: parameters.otherSans.map(parseOtherName),
  };
};

/** The common name again as an alternative name, unless the request says otherwise. */
export const withCommonName = (
  alternatives: AlternativeNames,
  commonName: string,
  excluded: boolean,
): AlternativeNames => {
  const extra = excluded || commonName === '' ? { dns: [], emails: [] } : splitNames([commonName]);
  return {
    ...alternatives,
    dns: unique([...alternatives.dns, ...extra.dns]),
    emails: unique([...alternatives.emails, ...extra.emails]),
  };
};

const inRange = (address: Uint8Array, cidr: string): boolean => {
  const range = parseIpRange(cidr);
  const size = address.byteLength;
  return (
    range !== undefined &&
    range.byteLength === 2 * size &&
    address.every((octet, i) => (octet & (range[size + i] as number)) === range[i])
  );
};

const checkIps = (role: Role, ips: readonly string[], source: string): void => {
  if (ips.length > 0 && !role.allowIpSans)
    refuse(
      `IP Subject Alternative Names are not allowed in this role, but was provided via ${source}`,
    );
  if (role.allowedIpSansCidr.length === 0) return;
  for (const text of ips) {
    const address = parseIpAddress(text);
    if (address === undefined || !role.allowedIpSansCidr.some((cidr) => inRange(address, cidr)))
      refuse(`the IP address "${text}" is not allowed in this role`);
  }
};

const checkUris = (
  role: Role,
  uris: readonly string[],
  source: string,
  values: TemplateValues | undefined,
): void => {
  if (uris.length === 0) return;
  if (role.allowedUriSans.length === 0)
    refuse(
      `URI Subject Alternative Names are not allowed in this role, but were provided via ${source}`,
    );
  const globs = role.allowedUriSansTemplate
    ? expandTemplates(role.allowedUriSans, values)
    : role.allowedUriSans;
  if (!uris.every((uri) => globs.some((glob) => matchesGlob(glob, uri))))
    refuse(
      `URI Subject Alternative Names were provided via ${source} which are not valid for this role`,
    );
};

const checkSubjectValues = (role: Role, serialNumber: string, userIds: readonly string[]): void => {
  if (
    serialNumber !== '' &&
    !role.allowedSerialNumbers.some((glob) => matchesGlob(glob, serialNumber))
  )
    refuse(`serial_number ${serialNumber} not allowed by this role`);
  for (const userId of userIds)
    if (
      !role.allowedUserIds.some(
        (rule) => rule.toLowerCase() === userId.toLowerCase() || matchesGlob(rule, userId),
      )
    )
      refuse(`user_id ${userId} is not allowed by this role`);
};

const chooseCommonName = (role: Role, parameters: NameParameters, csr?: CsrNames): string =>
  (csr !== undefined && role.useCsrCommonName && csr.commonName) || parameters.commonName;

const csrWarnings = (role: Role, parameters: NameParameters, csr?: CsrNames): string[] => {
  if (csr === undefined) return [];
  const warnings: string[] = [];
  if (role.useCsrCommonName && parameters.commonName !== '' && csr.commonName !== '')
    warnings.push(
      'the common_name field was provided but the role is set with "use_csr_common_name" set to true',
    );
  if (role.useCsrSans && parameters.altNames.length > 0)
    warnings.push(
      'the alt_names field was provided but the role is set with "use_csr_sans" set to true',
    );
  return warnings;
};

const chooseAlternatives = (
  role: Role,
  parameters: NameParameters,
  csr?: CsrNames,
): AlternativeNames => {
  if (csr === undefined || !role.useCsrSans) return parseAlternativeNames(parameters);
  return { ...csr, others: [...csr.others, ...parameters.otherSans.map(parseOtherName)] };
};

/**
 * @param csr undefined when the service makes the key
 * @throws KeelsonError `request.invalid` with the text of the first rule that is broken
 */
export const decideNames = (
  role: Role,
  parameters: NameParameters,
  csr: CsrNames | undefined,
  values: TemplateValues | undefined,
): CertificateNames => {
  const commonName = chooseCommonName(role, parameters, csr);
  if (commonName === '' && role.requireCn)
    refuse(
      'the common_name field is required, or must be provided in a CSR with "use_csr_common_name" set to true, unless "require_cn" is set to false',
    );
  if (commonName !== '' && !acceptsCommonName(role, commonName, values))
    refuse(`common name ${commonName} not allowed by this role`);
  const serialNumber =
    parameters.serialNumber ||
    (role.serialNumberSource === 'json-csr' ? (csr?.serialNumber ?? '') : '');
  checkSubjectValues(role, serialNumber, parameters.userIds);

  const fromCsr = csr !== undefined && role.useCsrSans;
  const alternatives = withCommonName(
    chooseAlternatives(role, parameters, csr),
    commonName,
    parameters.excludeCnFromSans,
  );
  const badEmail = alternatives.emails.find((name) => !acceptsName(role, name, values));
  if (badEmail !== undefined) refuse(`email address ${badEmail} not allowed by this role`);
  const badName = alternatives.dns.find((name) => !acceptsName(role, name, values));
  if (badName !== undefined) refuse(`subject alternate name ${badName} not allowed by this role`);
  checkOtherNames(alternatives.others, role.allowedOtherSans);
  checkIps(role, alternatives.ips, fromCsr ? 'CSR' : 'the API');
  checkUris(role, alternatives.uris, fromCsr ? 'CSR' : 'the API', values);
  return {
    commonName,
    serialNumber,
    userIds: parameters.userIds,
    alternatives,
    warnings: csrWarnings(role, parameters, csr),
  };
};

/** Alternative names as they are written: host names, addresses, URIs, others. */
export const toGeneralNames = (names: AlternativeNames): readonly GeneralName[] => [
  ...names.others.map((other): GeneralName => ({ kind: 'other', ...other })),
  ...names.dns.map((value): GeneralName => ({ kind: 'dns', value })),
  ...names.emails.map((value): GeneralName => ({ kind: 'email', value })),
  ...names.ips.map((value): GeneralName => ({ kind: 'ip', value })),
  ...names.uris.map((value): GeneralName => ({ kind: 'uri', value })),
];
