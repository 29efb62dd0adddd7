/** Issuing under a role, signing a CSR under a role, signing a CSR verbatim. */
import type { KeyUsage, SchemeChoice } from '@keelson/x509';
import {
  fillTemplates,
  type TemplateValues,
  templateParametersOf,
} from '../roles/domain/name-templates.ts';
import type { Role } from '../roles/domain/role.ts';
import { requireRole } from '../roles/role-operations.ts';
import type { CertificateOrder } from './build-certificate.ts';
import { readCsrPem } from './domain/csr-names.ts';
import type { KeyRequest } from './domain/key-rules.ts';
import type { NameParameters } from './domain/requested-names.ts';
import {
  type IssuedCertificate,
  type IssuingParts,
  type IssuingRequest,
  requestedLifetime,
  requireMetadataAllowed,
  requireSigner,
  storeCertificate,
} from './signing-operations.ts';

export interface NamedRequest extends IssuingRequest {
  readonly names: NameParameters;
  /** The values of parameters for the caller; called only for a role with templates. */
  readonly findValues: (parameters: readonly string[]) => Promise<TemplateValues>;
}

/** A request for a certificate with a new key. */
export interface IssueRequest extends NamedRequest {
  /** The requested key; used where the role leaves the type open. */
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
  /** Undefined means the default. */
  readonly keyUsages: readonly KeyUsage[] | undefined;
  readonly extendedKeyUsages: readonly string[];
  /** The issuer's rule for certificates that outlive it applies; otherwise the lifetime is cut. */
  readonly enforcesBehavior: boolean;
}

const makeAndStore = async (
  parts: IssuingParts,
  request: IssuingRequest,
  role: Role | undefined,
  order: CertificateOrder,
): Promise<IssuedCertificate> => {
  requireMetadataAllowed(request, role);
  const authority = await parts.authorities.of(request.mount);
  const issuer = requireSigner(authority, request.issuerRef ?? role?.issuerRef ?? 'default');
  if ('csr' in order)
    await parts.compromisedKeys.refuse(request.mount, () => readCsrPem(order.csr).publicKeyDer);
  const made = await parts.maker.make(
    request.mount.uuid,
    authority.signingIssuerOf(issuer),
    role,
    order,
  );
  return storeCertificate(parts, request, { ...made, authority, issuer, role });
};

/** The role of a request, with the names of the caller in the place of templates. */
const requireFilledRole = async (
  { store }: IssuingParts,
  { mount, roleName, findValues }: NamedRequest,
): Promise<Role> => {
  const role = await requireRole(store, mount, roleName);
  const parameters = templateParametersOf(role);
  return parameters.length === 0 ? role : fillTemplates(role, await findValues(parameters));
};

/** Generates a key and issues a certificate for it. */
export const issueCertificate = async (
  parts: IssuingParts,
  request: IssueRequest,
): Promise<IssuedCertificate> => {
  const { names, key } = request;
  const role = await requireFilledRole(parts, request);
  const lifetime = requestedLifetime(parts, request);
  return makeAndStore(parts, request, role, { kind: 'issue', lifetime, names, key });
};

/** Signs a CSR, taking only the fields the role allows. */
export const signCsr = async (
  parts: IssuingParts,
  request: SignRequest,
): Promise<IssuedCertificate> => {
  const { csr, names } = request;
  const role = await requireFilledRole(parts, request);
  const lifetime = requestedLifetime(parts, request);
  return makeAndStore(parts, request, role, { kind: 'sign', lifetime, csr, names });
};

/** Signs a CSR verbatim, for trusted operators. */
export const signVerbatim = async (
  parts: IssuingParts,
  request: VerbatimSignRequest,
): Promise<IssuedCertificate> => {
  const { mount, roleName, csr, scheme, userIds, keyUsages, extendedKeyUsages } = request;
  const role = roleName === '' ? undefined : await requireRole(parts.store, mount, roleName);
  return makeAndStore(parts, request, role, {
    kind: 'verbatim',
    lifetime: requestedLifetime(parts, request),
    csr,
    scheme,
    userIds,
    keyUsages,
    extendedKeyUsages,
    enforcesBehavior: request.enforcesBehavior,
  });
};
