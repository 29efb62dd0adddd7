/** Issuing under a role, signing a CSR under a role, signing a CSR as it is. */
import { createKeyPair, type KeyUsage, randomSerialNumber, type SchemeChoice } from '@keelson/x509';
import { describePublicKey } from '../issuers/domain/public-key.ts';
import type { TemplateValues } from '../roles/domain/name-acceptance.ts';
import { requireRole } from '../roles/role-operations.ts';
import { namesOfCsr, readCsrPem } from './domain/csr-names.ts';
import { checkCsrKey, checkKeySize, decideIssuedKey, type KeyRequest } from './domain/key-rules.ts';
import { buildLeafCertificate } from './domain/leaf-certificate.ts';
import { privilegedBehavior } from './domain/lifetime.ts';
import { decideNames, type NameParameters } from './domain/requested-names.ts';
import { buildVerbatimCertificate } from './domain/verbatim-certificate.ts';
import {
  type IssuedCertificate,
  type IssuingParts,
  type IssuingRequest,
  lifetimeUnder,
  NO_RULES,
  requireSigner,
  signAndKeep,
} from './signing-operations.ts';

export interface NamedRequest extends IssuingRequest {
  readonly names: NameParameters;
  readonly templateValues: TemplateValues | undefined;
}

/** A request for a key of the service's making. */
export interface IssueRequest extends NamedRequest {
  /** What the caller asks for; counts where the role leaves the type open. */
  readonly key: KeyRequest;
}

export interface SignRequest extends NamedRequest {
  /** PEM. */
  readonly csr: string;
}

export interface VerbatimSignRequest extends IssuingRequest {
  readonly csr: string;
  readonly scheme: SchemeChoice;
  readonly userIds: readonly string[];
  readonly keyUsages: readonly KeyUsage[];
  readonly extendedKeyUsages: readonly string[];
  /** The issuer's rule for what outlives it holds; otherwise the lifetime is cut. */
  readonly enforcesBehavior: boolean;
}

/** Makes a key and a certificate for it. */
export const issueCertificate = async (
  parts: IssuingParts,
  request: IssueRequest,
): Promise<IssuedCertificate> => {
  const { mount } = request;
  const role = await requireRole(parts.store, mount, request.roleName);
  const authority = await parts.authorities.of(mount);
  const issuer = requireSigner(authority, request.issuerRef ?? role.issuerRef);
  const key = decideIssuedKey(role, request.key);
  const names = decideNames(role, request.names, undefined, request.templateValues);
  const lifetime = lifetimeUnder(parts, request, role, issuer, issuer.issuer.leafNotAfterBehavior);
  const keyPair = await createKeyPair(key.algorithm);
  const fields = buildLeafCertificate({
    role,
    names,
    ...lifetime,
    serialNumber: randomSerialNumber(),
    publicKeyDer: keyPair.publicKeyDer,
    issuerName: issuer.certificate.subject,
    issuerKeyIdentifier: issuer.keyIdentifier,
    urls: authority.urlsOf(issuer),
  });
  return signAndKeep(parts, request, {
    authority,
    fields,
    issuer,
    role,
    scheme: role,
    keyPair,
    warnings: [...names.warnings, ...key.warnings, ...lifetime.warnings],
  });
};

/** Signs a CSR with what the role lets in of it. */
export const signCsr = async (
  parts: IssuingParts,
  request: SignRequest,
): Promise<IssuedCertificate> => {
  const { mount } = request;
  const role = await requireRole(parts.store, mount, request.roleName);
  const authority = await parts.authorities.of(mount);
  const issuer = requireSigner(authority, request.issuerRef ?? role.issuerRef);
  const csr = readCsrPem(request.csr);
  checkCsrKey(role, describePublicKey(csr.publicKeyDer));
  const names = decideNames(role, request.names, namesOfCsr(csr), request.templateValues);
  const lifetime = lifetimeUnder(parts, request, role, issuer, issuer.issuer.leafNotAfterBehavior);
  const fields = buildLeafCertificate({
    role,
    names,
    ...lifetime,
    serialNumber: randomSerialNumber(),
    publicKeyDer: csr.publicKeyDer,
    issuerName: issuer.certificate.subject,
    issuerKeyIdentifier: issuer.keyIdentifier,
    urls: authority.urlsOf(issuer),
  });
  return signAndKeep(parts, request, {
    authority,
    fields,
    issuer,
    role,
    scheme: role,
    warnings: [...names.warnings, ...lifetime.warnings],
  });
};

/** Signs a CSR as it is, for trusted operators. */
export const signVerbatim = async (
  parts: IssuingParts,
  request: VerbatimSignRequest,
): Promise<IssuedCertificate> => {
  const { mount, roleName } = request;
  const role = roleName === '' ? undefined : await requireRole(parts.store, mount, roleName);
  const authority = await parts.authorities.of(mount);
  const issuer = requireSigner(authority, request.issuerRef ?? role?.issuerRef ?? 'default');
  const csr = readCsrPem(request.csr);
  checkKeySize(describePublicKey(csr.publicKeyDer));
  const configured = issuer.issuer.leafNotAfterBehavior;
  const behavior = privilegedBehavior(configured, { isEnforced: request.enforcesBehavior });
  const lifetime = lifetimeUnder(parts, request, role ?? NO_RULES, issuer, behavior);
  const fields = buildVerbatimCertificate({
    csr,
    defaultKeyUsages: request.keyUsages,
    defaultExtendedKeyUsages: request.extendedKeyUsages,
    userIds: request.userIds,
    ...lifetime,
    serialNumber: randomSerialNumber(),
    issuerName: issuer.certificate.subject,
    issuerKeyIdentifier: issuer.keyIdentifier,
    urls: authority.urlsOf(issuer),
  });
  return signAndKeep(parts, request, {
    authority,
    fields,
    issuer,
    role,
    scheme: request.scheme,
    warnings: lifetime.warnings,
  });
};
