/**
 * The certificate made from a template of the policy service. Subject, validity and extensions
 * come from the template; fields that depend on the issuer, and the key, do not
 * (reference §8.4).
 */
import { KeelsonError } from '@keelson/errors';
import {
  type CertificateFields,
  EXTENSION,
  findExtension,
  isSamePublicKey,
  type KeyAlgorithm,
  keyIdentifierOf,
  keyTypeOfScheme,
  type ParsedCertificate,
  parseBasicConstraints,
  parseName,
  type SchemeChoice,
  type SignatureScheme,
  schemeOfIdentifier,
  subjectKeyIdentifier,
} from '@keelson/x509';
import {
  issuerExtensions,
  withoutIssuerExtensions,
} from '../../issuers/domain/issuer-extensions.ts';
import type { SigningIssuer } from '../../issuers/domain/signing-issuer.ts';
import {
  boundByIssuer,
  checkValidity,
  formatTime,
  privilegedBehavior,
} from '../../validity/domain/lifetime.ts';
import type { IssuanceMode } from './policy-request.ts';

export interface TemplateUse {
  readonly template: ParsedCertificate;
  /** Key of the request: the only one that the certificate may be for. */
  readonly publicKeyDer: Uint8Array;
  readonly mode: IssuanceMode;
  readonly nowMs: number;
  /** The latest end that the maximum of lifetimes allows. */
  readonly lastMs: number;
  readonly serialNumber: Uint8Array;
  readonly issuer: SigningIssuer;
}

const unusable = (text: string): never => {
  throw new KeelsonError('pki.policy_unusable', { text });
};

/**
 * Extensions that no certificate may have: of precertificates (RFC 6962 §3.1), and of validation (RFC 8737
 * §3).
 */
const FORBIDDEN: readonly string[] = ['1.3.6.1.4.1.11129.2.4.3', '1.3.6.1.5.5.7.1.31'];

const checkExtensions = ({ template: { extensions }, mode }: TemplateUse): void => {
  const constraints = findExtension(extensions, EXTENSION.basicConstraints);
  const isCa = constraints !== undefined && parseBasicConstraints(constraints.value).isCa;
  if (isCa && mode !== 'ica')
    unusable('the certificate is a CA certificate, which was not requested');
  if (!isCa && mode === 'ica') unusable('the certificate is not a CA certificate');
  const forbidden = extensions.find(({ oid }) => FORBIDDEN.includes(oid));
  if (forbidden !== undefined) unusable(`the certificate has the extension ${forbidden.oid}`);
};

const checkTemplate = (use: TemplateUse): void => {
  const { template, publicKeyDer, nowMs } = use;
  let isSameKey: boolean;
  try {
    isSameKey = isSamePublicKey(template.publicKeyDer, publicKeyDer);
    parseName(template.subject);
    checkExtensions(use);
  } catch (error) {
    if (!(error instanceof KeelsonError) || error.code !== 'pki.malformed') throw error;
    throw new KeelsonError(
      'pki.policy_unusable',
      { text: `certificate cannot be read: ${error.message}` },
      { cause: error },
    );
  }
  if (!isSameKey) unusable('the certificate is for another key than the request');
  if (template.notAfterMs <= nowMs) unusable('the certificate has expired');
  if (template.notBeforeMs > template.notAfterMs) unusable('the certificate ends before it begins');
};

/**
 * The lifetime of CA certificates and of ACME certificates is cut instead of refused, since the client
 * cannot ask for less.
 */
const behaviorOf = ({ mode, issuer: { leafNotAfterBehavior } }: TemplateUse) =>
  mode === 'issue' || mode === 'sign'
    ? leafNotAfterBehavior
    : privilegedBehavior(leafNotAfterBehavior, { isEnforced: false, mayOutlive: true });

/** @throws KeelsonError `pki.policy_unusable` if the service exceeds the maximum, except for ACME */
const boundByMaximum = ({ template: { notAfterMs }, mode, lastMs }: TemplateUse): number => {
  if (notAfterMs <= lastMs) return notAfterMs;
  if (mode === 'acme') return Math.floor(lastMs / 1000) * 1000;
  return unusable(
    `the certificate ends at ${formatTime(notAfterMs)}, later than the maximum lifetime of the mount allows (${formatTime(lastMs)})`,
  );
};

/**
 * @throws KeelsonError `pki.policy_unusable`; `request.invalid` where the issuer's rule for what outlives
 *   it refuses
 */
export const buildFromTemplate = (use: TemplateUse): CertificateFields => {
  checkTemplate(use);
  const { template, issuer, publicKeyDer } = use;
  const notAfterMs = boundByIssuer(boundByMaximum(use), issuer.notAfterMs, behaviorOf(use));
  checkValidity({ notBeforeMs: template.notBeforeMs, notAfterMs });
  const kept = withoutIssuerExtensions(template.extensions);
  const hasIdentifier = findExtension(kept, EXTENSION.subjectKeyIdentifier) !== undefined;
  return {
    serialNumber: use.serialNumber,
    issuer: issuer.name,
    subject: template.subject,
    notBeforeMs: template.notBeforeMs,
    notAfterMs,
    publicKeyDer,
    extensions: [
      ...kept,
      ...(hasIdentifier ? [] : [subjectKeyIdentifier(keyIdentifierOf(publicKeyDer))]),
      ...issuerExtensions(issuer.keyIdentifier, issuer.urls),
    ],
  };
};

const HASH = /-sha(256|384|512)$/;

/** The template's own algorithm where the issuer's key can sign with it; else the issuer's usual one. */
export const schemeOfTemplate = (
  { signatureAlgorithm }: Pick<ParsedCertificate, 'signatureAlgorithm'>,
  issuerKey: KeyAlgorithm,
): SchemeChoice => {
  let scheme: SignatureScheme;
  try {
    scheme = schemeOfIdentifier(signatureAlgorithm);
  } catch {
    // An unsupported algorithm: the issuer's usual one is used.
    return {};
  }
  if (keyTypeOfScheme(scheme) !== issuerKey.type) return {};
  return {
    signatureBits: Number(HASH.exec(scheme)?.[1] ?? 0),
    usePss: scheme.startsWith('rsa-pss'),
  };
};
