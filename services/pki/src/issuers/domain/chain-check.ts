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
  parseNameConstraints,
} from '@keelson/x509';
import type { ChainCheck } from './issuer.ts';
import type { IssuerInUse } from './issuer-in-use.ts';

/** Returns what is wrong; undefined when nothing is. */
type Check = (fields: CertificateFields) => string | undefined;

const INTERPRETED: readonly string[] = [
  EXTENSION.basicConstraints,
  EXTENSION.keyUsage,
  EXTENSION.extendedKeyUsage,
  EXTENSION.subjectAltName,
  EXTENSION.nameConstraints,
  EXTENSION.certificatePolicies,
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

const checksOf = (path: readonly IssuerInUse[], isFreed: (check: ChainCheck) => boolean): Check => {
  const fixed =
    (isFreed('critical_extension')
      ? undefined
      : path.map(({ certificate }) => uninterpreted(certificate.extensions)).find(Boolean)) ??
    (isFreed('path_length') ? undefined : pathLengthFinding(path));
  const constraints = isFreed('name_constraint')
    ? []
    : path.flatMap(({ certificate }) => {
        const extension = findExtension(certificate.extensions, EXTENSION.nameConstraints);
        return extension === undefined ? [] : [parseNameConstraints(extension.value)];
      });
  return ({ subject, extensions }) => {
    if (fixed !== undefined || constraints.length === 0) return fixed;
    const names = constrainedNames(
      subject,
      findExtension(extensions, EXTENSION.subjectAltName)?.value,
    );
    for (const one of constraints) {
      const finding = findConstraintViolation(one, names);
      if (finding !== undefined) return finding;
    }
    return undefined;
  };
};

/**
 * The check of certificates under an issuer; one path to a root that accepts them is enough.
 * @returns a function that throws KeelsonError `request.invalid`
 */
export const createChainCheck = (
  { issuer }: IssuerInUse,
  paths: readonly (readonly IssuerInUse[])[],
): ((fields: CertificateFields) => void) => {
  const isFreed = (check: ChainCheck): boolean => issuer.disabledChecks?.includes(check) === true;
  const checks = paths.map((path) => checksOf(path, isFreed));
  return (fields) => {
    const own = isFreed('critical_extension') ? undefined : uninterpreted(fields.extensions);
    const findings = own === undefined ? checks.map((check) => check(fields)) : [own];
    const [finding] = findings;
    if (finding !== undefined && !findings.includes(undefined))
      throw new KeelsonError('request.invalid', {
        text: `verification of parsed bundle failed: ${finding}`,
      });
  };
};
