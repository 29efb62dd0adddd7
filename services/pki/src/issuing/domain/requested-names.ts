/**
 * The names of a certificate, from those in a request and its CSR, checked against the role. One name
 * that the role does not allow refuses the whole request (reference §3.2, §3.3, §4.6). In the vendor
 * dialect only the common name does: other names are left out.
 */

import { KeelsonError } from '@keelson/errors';
import { matchesGlob } from '@keelson/secrets-api/glob';
import {
  type AlternativeNameParameters,
  type AlternativeNames,
  judgeUnusable,
  listNames,
  type NameRules,
  type RequestedNames,
  readAlternativeNames,
  sortDnsNames,
  withCommonName,
  withoutRootDot,
} from '../../names/domain/alternative-names.ts';
import { type OtherName, parseOtherName } from '../../names/domain/other-name.ts';
import { acceptsCommonName } from '../../roles/domain/name-acceptance.ts';
import type { Role } from '../../roles/domain/role.ts';
import { type NameRefusal, selectAllowedNames } from './allowed-names.ts';

/** Names in the body of a request. */
export interface NameParameters extends AlternativeNameParameters {
  readonly commonName: string;
  readonly serialNumber: string;
  readonly userIds: readonly string[];
  readonly excludeCnFromSans: boolean;
  /** By the dialect of the caller. */
  readonly rules: NameRules;
}

/** Names in a CSR. */
export interface CsrNames {
  readonly commonName: string;
  readonly serialNumber: string;
  /** As they are in the CSR. */
  readonly dns: readonly string[];
  readonly emails: readonly string[];
  readonly ips: readonly string[];
  readonly uris: readonly string[];
  readonly others: readonly OtherName[];
  /** Descriptions of the names whose forms no role can allow. */
  readonly unsupported: readonly string[];
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

const checkCommonName = (role: Role, commonName: string): void => {
  if (!acceptsCommonName(role, commonName))
    refuse(`common name ${commonName} not allowed by this role`);
};

const chooseCommonName = (role: Role, parameters: NameParameters, csr?: CsrNames): string =>
  withoutRootDot(
    (csr !== undefined && role.useCsrCommonName && csr.commonName) || parameters.commonName,
  );

/** Where hostnames are not enforced, host names may have underscores (`_sip._tcp.example.com`). */
const isRelaxed = (role: Role): boolean => !role.enforceHostnames;

const requestedNames = (role: Role, parameters: NameParameters, csr?: CsrNames): RequestedNames => {
  if (csr === undefined || !role.useCsrSans)
    return readAlternativeNames(parameters, isRelaxed(role));
  const { dns, unusable } = sortDnsNames(csr.dns, isRelaxed(role));
  const { emails, ips, uris } = csr;
  const others = [...csr.others, ...parameters.otherSans.map(parseOtherName)];
  return {
    names: { dns, emails, ips, uris, others },
    unusable: [...unusable, ...csr.unsupported],
  };
};

/**
 * Refuses the request for its unusable names and those that the role does not allow, or turns them
 * into warnings.
 * @returns the warnings
 */
const judgeNames = (
  unusable: readonly string[],
  refusals: readonly NameRefusal[],
  rules: NameRules,
): readonly string[] => {
  const texts = refusals.map(({ text }) => text);
  if (rules.unusable === 'refuse' && unusable.length === 0 && texts.length > 0)
    refuse(listNames(texts, '; '));
  const notAllowed = refusals.flatMap(({ names }) =>
    names.map((name) => `${JSON.stringify(name)} (not allowed by this role)`),
  );
  return judgeUnusable([...unusable, ...notAllowed], rules);
};

/** A parameter whose value the CSR replaces, by a setting of the role. */
const replacedText = (name: string, setting: string): string =>
  `the ${name} field was provided but the role is set with "${setting}" set to true`;

/** Which alternative names of the body the names of the CSR replace. */
const replacedNames = (parameters: NameParameters): readonly string[] =>
  [
    ['alt_names', parameters.altNames] as const,
    ['ip_sans', parameters.ipSans] as const,
    ['uri_sans', parameters.uriSans] as const,
  ].flatMap(([name, values]) => (values.length > 0 ? [name] : []));

/**
 * Names of the body that those of the CSR replace. One that the role does not allow is refused all the
 * same, because the caller learns nothing else from a certificate without it.
 * @returns warnings that name the parameters
 */
const judgeReplaced = (
  role: Role,
  parameters: NameParameters,
  csr: CsrNames | undefined,
): readonly string[] => {
  if (csr === undefined) return [];
  const { commonName, rules, altNames, ipSans, uriSans } = parameters;
  const warnings: string[] = [];
  if (role.useCsrCommonName && commonName !== '' && csr.commonName !== '') {
    if (rules.unusable === 'refuse') checkCommonName(role, commonName);
    warnings.push(replacedText('common_name', 'use_csr_common_name'));
  }
  const replaced = role.useCsrSans ? replacedNames(parameters) : [];
  if (replaced.length > 0 && rules.unusable === 'refuse') {
    const body = { altNames, ipSans, uriSans, otherSans: [] };
    const { names, unusable } = readAlternativeNames(body, isRelaxed(role));
    judgeNames(unusable, selectAllowedNames(role, names, 'the API').refusals, rules);
  }
  warnings.push(...replaced.map((name) => replacedText(name, 'use_csr_sans')));
  const isKept = [...csr.dns, ...csr.emails].some(
    (name) => name.toLowerCase() === (csr.commonName || commonName).toLowerCase(),
  );
  if (role.useCsrSans && parameters.excludeCnFromSans && isKept)
    warnings.push(replacedText('exclude_cn_from_sans', 'use_csr_sans'));
  return warnings;
};

/**
 * @param csr undefined when the service makes the key
 * @throws KeelsonError `request.invalid` with the rules that are broken
 */
export const decideNames = (
  role: Role,
  parameters: NameParameters,
  csr: CsrNames | undefined,
): CertificateNames => {
  const commonName = chooseCommonName(role, parameters, csr);
  if (commonName === '' && role.requireCn)
    refuse(
      'the common_name field is required, or must be provided in a CSR with "use_csr_common_name" set to true, unless "require_cn" is set to false',
    );
  if (commonName !== '') checkCommonName(role, commonName);
  const serialNumber =
    parameters.serialNumber ||
    (role.serialNumberSource === 'json-csr' ? (csr?.serialNumber ?? '') : '');
  checkSubjectValues(role, serialNumber, parameters.userIds);

  const asked = requestedNames(role, parameters, csr);
  const alternatives = withCommonName(
    asked.names,
    parameters.excludeCnFromSans ? '' : commonName,
    parameters.rules,
    isRelaxed(role),
  );
  const source = csr !== undefined && role.useCsrSans ? 'CSR' : 'the API';
  const { allowed, refusals } = selectAllowedNames(role, alternatives, source);
  const nameWarnings = judgeNames(asked.unusable, refusals, parameters.rules);
  return {
    commonName,
    serialNumber,
    userIds: parameters.userIds,
    alternatives: allowed,
    warnings: [...judgeReplaced(role, parameters, csr), ...nameWarnings],
  };
};
