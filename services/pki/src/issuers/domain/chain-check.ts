/**
 * Whether relying parties will accept a new certificate under the authorities above it: name constraints,
 * path lengths, critical extensions (RFC 5280 §6.1). Time and extended usages are theirs to judge.
 */
import { KeelsonError } from '@keelson/errors';
import {
  type CertificateFields,
  constrainedNames,
  EXTENSION,
  type Extension,
  findConstraintViolation,
  findExtension,
  type ParsedNameConstraints,
  parseNameConstraints,
} from '@keelson/x509';
import type { ChainCheck } from './issuer.ts';
import type { IssuerInUse } from './issuer-in-use.ts';

/** Rules of one path to a root for every certificate below it. */
interface PathRules {
  /** A finding that does not depend on the certificate; undefined if there is none. */
  readonly finding: string | undefined;
  readonly constraints: readonly ParsedNameConstraints[];
}

/** The check of certificates under one issuer, as data: it may be made on another thread. */
export interface ChainRules {
  readonly allowsUninterpreted: boolean;
  /** A certificate is accepted if one path accepts it. */
  readonly paths: readonly PathRules[];
}

const INTERPRETED: readonly string[] = [
  EXTENSION.basicConstraints,
  EXTENSION.keyUsage,
  EXTENSION.extendedKeyUsage,
  EXTENSION.subjectAltName,
  EXTENSION.nameConstraints,
  EXTENSION.certificatePolicies,
  // Verifiers know these, which RFC 5280 requires or recommends to be critical.
  EXTENSION.policyMappings,
  EXTENSION.policyConstraints,
  EXTENSION.inhibitAnyPolicy,
  EXTENSION.crlDistributionPoints,
];

const uninterpreted = (extensions: readonly Extension[]): string | undefined => {
  const found = extensions.find(({ oid, critical }) => critical && !INTERPRETED.includes(oid));
  return found && `unhandled critical extension ${found.oid}`;
};

const isSelfIssued = ({ certificate }: IssuerInUse): boolean =>
  Buffer.from(certificate.subject).equals(certificate.issuer);

/** The first authority of the path that does not allow as many below it as there are. */
const pathLengthFinding = (path: readonly IssuerInUse[]): string | undefined => {
  let below = 0;
  for (const member of path) {
    if (member.pathLength !== undefined && member.pathLength < below)
      return `issuer ${member.issuer.id} does not allow as many authorities below it`;
    if (!isSelfIssued(member)) below++;
  }
  return undefined;
};

const rulesOf = (
  path: readonly IssuerInUse[],
  isDisabled: (check: ChainCheck) => boolean,
): PathRules => ({
  finding:
    (isDisabled('critical_extension')
      ? undefined
      : path.map(({ certificate }) => uninterpreted(certificate.extensions)).find(Boolean)) ??
    (isDisabled('path_length') ? undefined : pathLengthFinding(path)),
  constraints: isDisabled('name_constraint')
    ? []
    : path.flatMap(({ certificate }) => {
        const extension = findExtension(certificate.extensions, EXTENSION.nameConstraints);
        return extension === undefined ? [] : [parseNameConstraints(extension.value)];
      }),
});

/**
 * Refuses a manual chain of which no certificate before a member names it as its issuer. It is checked
 * when it is written: chains that are found are linked by names; a manual chain may not be.
 * @throws KeelsonError `request.invalid`
 */
export const checkManualChain = (chain: readonly IssuerInUse[]): void => {
  const named: Buffer[] = [];
  for (const { issuer, certificate } of chain) {
    const subject = Buffer.from(certificate.subject);
    if (named.length > 0 && !named.some((name) => name.equals(subject)))
      throw new KeelsonError('request.invalid', {
        text: `manual_chain: issuer ${issuer.id} is not named as issuer by any certificate before it; disable_name_checks permits that`,
      });
    // Its own name, too: a chain may contain an issuer and its reissue.
    named.push(subject, Buffer.from(certificate.issuer));
  }
};

export const chainRulesOf = (
  { issuer }: IssuerInUse,
  paths: readonly (readonly IssuerInUse[])[],
): ChainRules => {
  const isDisabled = (check: ChainCheck): boolean =>
    issuer.disabledChecks?.includes(check) === true;
  return {
    allowsUninterpreted: isDisabled('critical_extension'),
    paths: paths.map((path) => rulesOf(path, isDisabled)),
  };
};

/** The parts of a certificate that the check reads. */
type CheckedFields = Pick<CertificateFields, 'subject' | 'extensions'>;

const findingOf = (
  { finding, constraints }: PathRules,
  { subject, extensions }: CheckedFields,
): string | undefined => {
  if (finding !== undefined || constraints.length === 0) return finding;
  const names = constrainedNames(
    subject,
    findExtension(extensions, EXTENSION.subjectAltName)?.value,
  );
  for (const one of constraints) {
    const violation = findConstraintViolation(one, names);
    if (violation !== undefined) return violation;
  }
  return undefined;
};

/**
 * Whether relying parties will accept a certificate under the authorities above it.
 * @throws KeelsonError `request.invalid`
 */
export const checkChain = (
  { allowsUninterpreted, paths }: ChainRules,
  fields: CheckedFields,
): void => {
  const own = allowsUninterpreted ? undefined : uninterpreted(fields.extensions);
  const findings = own === undefined ? paths.map((path) => findingOf(path, fields)) : [own];
  const [finding] = findings;
  if (finding !== undefined && !findings.includes(undefined))
    throw new KeelsonError('request.invalid', {
      text: `verification of parsed bundle failed: ${finding}`,
    });
};
