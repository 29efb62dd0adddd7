/** Paths from trusted authorities to a certificate (RFC 5280 §6.1, without certificate policies). */
import { isSignedBy, type ParsedCertificate } from './certificate.ts';
import { EXTENSION, type Extension, findExtension } from './extensions/extension.ts';
import {
  constrainedNames,
  findConstraintViolation,
  parseNameConstraints,
} from './extensions/name-constraint-check.ts';
import {
  EXTENDED_KEY_USAGE,
  parseBasicConstraints,
  parseExtendedKeyUsage,
  parseKeyUsage,
} from './extensions/usages.ts';

/** Signatures that are verified at most, since whoever has an authority of its own could make any number of paths. */
const MAX_VERIFICATIONS = 64;

/** Critical extensions that this check, or its caller, honours. */
const INTERPRETED: readonly string[] = [
  EXTENSION.basicConstraints,
  EXTENSION.keyUsage,
  EXTENSION.extendedKeyUsage,
  EXTENSION.subjectAltName,
  EXTENSION.nameConstraints,
  // Any policy is accepted.
  EXTENSION.certificatePolicies,
];

export interface TrustedPathOptions {
  /** Trusted authorities. */
  readonly anchors: readonly ParsedCertificate[];
  /** Certificates from anywhere, which may be authorities below the anchors. */
  readonly intermediates: readonly ParsedCertificate[];
  /** Extended key usage that authorities must not exclude, dotted. */
  readonly usage: string;
  readonly nowMs: number;
  /** Further critical extensions of the certificate that the caller honours, dotted. */
  readonly interpreted?: readonly string[];
}

const isSame = (left: Uint8Array, right: Uint8Array): boolean => Buffer.from(left).equals(right);

const isSelfIssued = ({ subject, issuer }: ParsedCertificate): boolean => isSame(subject, issuer);

const valueOf = (extensions: readonly Extension[], oid: string): Uint8Array | undefined =>
  findExtension(extensions, oid)?.value;

const hasUninterpreted = ({ extensions }: ParsedCertificate, further: readonly string[]): boolean =>
  extensions.some(
    ({ oid, critical }) => critical && !INTERPRETED.includes(oid) && !further.includes(oid),
  );

/** Whether it is an authority that may sign certificates for this usage now. */
const maySign = (
  certificate: ParsedCertificate,
  { usage, nowMs }: Pick<TrustedPathOptions, 'usage' | 'nowMs'>,
): boolean => {
  const { extensions, notBeforeMs, notAfterMs } = certificate;
  const constraints = valueOf(extensions, EXTENSION.basicConstraints);
  const keyUsage = valueOf(extensions, EXTENSION.keyUsage);
  const extended = valueOf(extensions, EXTENSION.extendedKeyUsage);
  const usages = extended && parseExtendedKeyUsage(extended);
  return (
    notBeforeMs <= nowMs &&
    nowMs <= notAfterMs &&
    constraints !== undefined &&
    parseBasicConstraints(constraints).isCa &&
    (keyUsage === undefined || parseKeyUsage(keyUsage).includes('CertSign')) &&
    (usages === undefined || usages.includes(usage) || usages.includes(EXTENDED_KEY_USAGE.Any)) &&
    !hasUninterpreted(certificate, [])
  );
};

/** Whether each authority of a path allows as many others below it as there are. */
const keepsLengths = (path: readonly ParsedCertificate[]): boolean =>
  path.every(({ extensions }, index) => {
    const value = valueOf(extensions, EXTENSION.basicConstraints);
    const { pathLength = Infinity } = value === undefined ? {} : parseBasicConstraints(value);
    return path.slice(index + 1).filter((one) => !isSelfIssued(one)).length <= pathLength;
  });

/** Whether the names of all certificates are those that the authorities above them may name. */
const keepsNames = (
  path: readonly ParsedCertificate[],
  certificate: ParsedCertificate,
): boolean => {
  const below = [...path, certificate];
  return path.every(({ extensions }, index) => {
    const value = valueOf(extensions, EXTENSION.nameConstraints);
    if (value === undefined) return true;
    const constraints = parseNameConstraints(value);
    return below.slice(index + 1).every((one) => {
      if (one !== certificate && isSelfIssued(one)) return true;
      const alternatives = valueOf(one.extensions, EXTENSION.subjectAltName);
      const names = constrainedNames(one.subject, alternatives);
      return findConstraintViolation(constraints, names) === undefined;
    });
  });
};

/**
 * The authorities from a trusted one down to the one that has signed the certificate; undefined if there is no path.
 * The search goes down from the trusted ones, so that certificates that none of them has signed cost nearly nothing.
 * Validity and usages of the certificate itself are the caller's to judge.
 * @throws KeelsonError `pki.malformed`
 */
export const findTrustedPath = (
  certificate: ParsedCertificate,
  options: TrustedPathOptions,
): readonly ParsedCertificate[] | undefined => {
  if (hasUninterpreted(certificate, options.interpreted ?? [])) return undefined;
  let verifications = 0;
  const hasSigned = (issuer: ParsedCertificate, one: ParsedCertificate): boolean => {
    if (!isSame(issuer.subject, one.issuer) || verifications === MAX_VERIFICATIONS) return false;
    verifications += 1;
    return isSignedBy(one, issuer.publicKeyDer);
  };
  const descend = (path: readonly ParsedCertificate[]): typeof path | undefined => {
    const issuer = path.at(-1);
    if (issuer === undefined || !maySign(issuer, options) || !keepsLengths(path)) return undefined;
    if (hasSigned(issuer, certificate) && keepsNames(path, certificate)) return path;
    for (const next of options.intermediates) {
      if (path.some(({ der }) => isSame(der, next.der)) || !hasSigned(issuer, next)) continue;
      const found = descend([...path, next]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  for (const anchor of options.anchors) {
    const found = descend([anchor]);
    if (found !== undefined) return found;
  }
  return undefined;
};
