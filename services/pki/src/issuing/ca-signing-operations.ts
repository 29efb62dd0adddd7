/** Signing other authorities, for trusted operators (reference §4.8, §4.10). */

import { type MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import {
  ATTRIBUTE,
  attributeValues,
  createCertificate,
  EXTENSION,
  type Extension,
  findExtension,
  parseName,
  randomSerialNumber,
  type SchemeChoice,
} from '@keelson/x509';
import { hasUrls, NO_URLS_WARNING } from '../authority-urls/domain/authority-urls.ts';
import type { IssuerInUse } from '../issuers/domain/authority.ts';
import {
  buildIntermediateCertificate,
  type CaSubject,
  limitExtensions,
} from '../issuers/domain/ca-certificate.ts';
import { describePublicKey } from '../issuers/domain/public-key.ts';
import { checkKeySize } from '../keys/domain/key-size.ts';
import { NO_RULES, privilegedBehavior } from '../validity/domain/lifetime.ts';
import { readCsrPem } from './domain/csr-names.ts';
import { decidePathLength } from './domain/path-length.ts';
import { readSelfIssuedPem, underNewSigner } from './domain/self-issued.ts';
import {
  type IssuedCertificate,
  type IssuingParts,
  type LifetimeParameters,
  lifetimeUnder,
  requireSigner,
  signAndStore,
} from './signing-operations.ts';

export interface IntermediateSignRequest extends LifetimeParameters {
  readonly issuerRef: string;
  /** PEM. */
  readonly csr: string;
  readonly useCsrValues: boolean;
  /** Its common name, when empty, is the CSR's. */
  readonly subject: (commonNameOfCsr: string) => CaSubject;
  /** -1: as the issuer allows. */
  readonly maxPathLength: number;
  readonly notBeforeDurationSeconds: number;
  /** Undefined if it is computed from the key. */
  readonly keyIdentifier: Uint8Array | undefined;
  readonly enforcesBehavior: boolean;
  readonly scheme: SchemeChoice;
}

/** Limits that a CSR may ask for, too. */
const LIMIT_NAMES: Readonly<Record<string, string>> = {
  [EXTENSION.nameConstraints]: 'name constraints',
  [EXTENSION.extendedKeyUsage]: 'extended key usages',
  [EXTENSION.certificatePolicies]: 'certificate policies',
};

/** Signs the CSR of an intermediate as a CA certificate. */
export const signIntermediate = async (
  parts: IssuingParts,
  request: IntermediateSignRequest,
): Promise<IssuedCertificate> => {
  const { mount, useCsrValues } = request;
  const authority = await parts.authorities.of(mount);
  const issuer = requireSigner(authority, request.issuerRef);
  const csr = readCsrPem(request.csr);
  await parts.compromisedKeys.refuse(mount, () => csr.publicKeyDer);
  checkKeySize(csr.keyAlgorithm);
  const pathLength = decidePathLength(request.maxPathLength, issuer.pathLength);
  const behavior = privilegedBehavior(issuer.issuer.leafNotAfterBehavior, {
    isEnforced: request.enforcesBehavior,
    mayOutlive: true,
  });
  const rules = { ...NO_RULES, notBeforeDurationSeconds: request.notBeforeDurationSeconds };
  const { isTruncated, ...lifetime } = lifetimeUnder(parts, request, rules, issuer, behavior);
  const urls = authority.urlsOf(issuer);
  const [commonName = ''] = attributeValues(parseName(csr.subject), ATTRIBUTE.commonName);
  const subject = request.subject(commonName);
  const fields = buildIntermediateCertificate({
    csr,
    useCsrValues,
    subject,
    pathLength,
    keyIdentifier: request.keyIdentifier,
    serialNumber: randomSerialNumber(),
    notBeforeMs: lifetime.notBeforeMs,
    notAfterMs: lifetime.notAfterMs,
    issuerName: issuer.certificate.subject,
    issuerKeyIdentifier: issuer.keyIdentifier,
    urls,
  });
  const has = (extensions: readonly Extension[], oid: string): boolean =>
    findExtension(extensions, oid) !== undefined;
  const warnings = [
    ...lifetime.warnings,
    ...(isTruncated
      ? ["the signed intermediary CA certificate's notAfter was truncated to the issuer's notAfter"]
      : []),
    ...(useCsrValues && has(csr.extensions, EXTENSION.basicConstraints)
      ? ['specified CSR contained a Basic Constraints extension that was ignored during issuance']
      : []),
    ...(useCsrValues
      ? limitExtensions(subject)
          .filter(({ oid }) => has(csr.extensions, oid))
          .map(
            ({ oid }) => `the ${LIMIT_NAMES[oid]} of the CSR were replaced by those of the request`,
          )
      : []),
    ...(hasUrls(urls) ? [] : [NO_URLS_WARNING]),
  ];
  return signAndStore(
    parts,
    { mount, roleName: '', metadata: '' },
    { authority, fields, issuer, scheme: request.scheme, warnings },
  );
};

export interface SelfIssuedSignRequest {
  readonly mount: MountScope;
  readonly issuerRef: string;
  /** PEM. */
  readonly certificate: string;
  readonly requiresMatchingAlgorithm: boolean;
}

/** Signs the root of another authority again; nothing is stored. */
export const signSelfIssued = async (
  parts: IssuingParts,
  request: SelfIssuedSignRequest,
): Promise<{ readonly der: Uint8Array; readonly issuer: IssuerInUse }> => {
  const authority = await parts.authorities.of(request.mount);
  const issuer = requireSigner(authority, request.issuerRef);
  const certificate = readSelfIssuedPem(request.certificate);
  await parts.compromisedKeys.refuse(request.mount, () => certificate.publicKeyDer);
  const [own, theirs] = [issuer.certificate, certificate].map(
    ({ publicKeyDer }) => describePublicKey(publicKeyDer).type,
  );
  if (request.requiresMatchingAlgorithm && own !== theirs)
    throw new KeelsonError('request.invalid', {
      text: `signing CA public key algorithm (${own}) does not match submitted certificate's (${theirs})`,
    });
  const fields = underNewSigner(certificate, {
    name: issuer.certificate.subject,
    keyIdentifier: issuer.keyIdentifier,
    urls: authority.urlsOf(issuer),
  });
  // No lints: the fields are those of the other authority, and its clients accept them. Many roots have
  // no key usage or key identifier, and a path length may be more than this issuer allows.
  return { der: await createCertificate(fields, issuer.signer()), issuer };
};
