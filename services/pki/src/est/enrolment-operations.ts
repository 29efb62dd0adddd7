/** Enrolment and renewal by EST (RFC 7030 §4.2), CA certificates and CSR attributes (§4.1, §4.5). */
import { KeelsonError } from '@keelson/errors';
import type { ClientCertificatesDefinition } from '@keelson/proto/auth/v1/client_certificates';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { RpcService } from '@keelson/rpc';
import {
  type CsrFields,
  EXTENSION,
  encodeCertsOnly,
  encodeCsrAttributes,
  encodePem,
  findExtension,
  type ParsedCertificate,
  toKeyAlgorithm,
} from '@keelson/x509';
import type { NameParameters } from '../issuing/domain/requested-names.ts';
import { signCsr, signVerbatim } from '../issuing/issuing-operations.ts';
import {
  type IssuingMount,
  type IssuingParts,
  type IssuingRequest,
  requireSigner,
} from '../issuing/signing-operations.ts';
import { STRICT_NAMES } from '../names/domain/alternative-names.ts';
import { requireRole } from '../roles/role-operations.ts';
import { type ClientOrigin, checkClientCertificate } from './client-certificate.ts';
import { checkRenewal } from './domain/enrolment-request.ts';
import type { CertificateAuthenticator, EstConfig, PathPolicy } from './domain/est-config.ts';

/** The parts of enrolment by certificate. */
export interface EstParts extends IssuingParts {
  /** Tells which certificates sign in. */
  readonly clientCertificates: RpcService<typeof ClientCertificatesDefinition>;
}

/** The certificate that a client has shown, and those that it has sent with it. */
export interface ShownCertificate {
  readonly certificate: ParsedCertificate;
  readonly chain: readonly Uint8Array[];
}

export interface EnrolmentScope {
  readonly mount: IssuingMount & Pick<Mount, 'namespace'>;
  readonly policy: PathPolicy;
}

/** The CA certificates of a path policy: its issuer and those above, as certs-only. */
export const caCertificates = async (
  parts: IssuingParts,
  { mount, policy }: EnrolmentScope,
): Promise<Uint8Array> => {
  const authority = await parts.authorities.of(mount);
  const reference =
    policy.kind === 'role'
      ? (await requireRole(parts.store, mount, policy.role)).issuerRef
      : 'default';
  const chain = authority.chainOf(requireSigner(authority, reference));
  return encodeCertsOnly(chain.map(({ certificate }) => certificate.der));
};

/** The attributes that requests should have; undefined where there are no requirements. */
export const csrAttributes = async (
  { store }: IssuingParts,
  { mount, policy }: EnrolmentScope,
): Promise<Uint8Array | undefined> => {
  if (policy.kind !== 'role') return undefined;
  const { keyType, keyBits } = await requireRole(store, mount, policy.role);
  return keyType === 'any' ? undefined : encodeCsrAttributes(toKeyAlgorithm(keyType, keyBits));
};

/** No auth method says who may enroll. */
const BY_ISSUERS: CertificateAuthenticator = { issuers: [], accessor: '', role: '' };

/** Everything comes from the CSR. */
const NO_NAMES: NameParameters = {
  commonName: '',
  altNames: [],
  ipSans: [],
  uriSans: [],
  otherSans: [],
  serialNumber: '',
  userIds: [],
  excludeCnFromSans: false,
  rules: STRICT_NAMES,
};

/** A device that enrols has no entity. */
const findNoValues = () => Promise.resolve({});

export interface EnrolmentRequest extends EnrolmentScope {
  readonly der: Uint8Array;
  readonly csr: CsrFields;
}

/** @returns the certificate and nothing else (§4.2.3), as certs-only */
export const enroll = async (
  parts: IssuingParts,
  { mount, policy, der, csr }: EnrolmentRequest,
): Promise<Uint8Array> => {
  // No answer of EST has a place for a warning.
  if (policy.kind === 'role' && findExtension(csr.extensions, EXTENSION.tlsFeature) !== undefined)
    throw new KeelsonError('request.invalid', {
      text: 'the request asks for the TLS feature extension (must-staple), which no role issues',
    });
  const request: IssuingRequest & { readonly csr: string } = {
    mount,
    roleName: policy.kind === 'role' ? policy.role : '',
    issuerRef: undefined,
    metadata: '',
    ttlSeconds: 0,
    notAfterMs: undefined,
    overlong: 'cap',
    absoluteTimes: 'bounded',
    csr: encodePem('CERTIFICATE REQUEST', der),
  };
  const issued =
    policy.kind === 'role'
      ? await signCsr(parts, { ...request, names: NO_NAMES, findValues: findNoValues })
      : await signVerbatim(parts, {
          ...request,
          scheme: {},
          userIds: [],
          keyUsages: undefined,
          extendedKeyUsages: [],
          enforcesBehavior: false,
        });
  return encodeCertsOnly([issued.der]);
};

/** @throws KeelsonError `pki.est_certificate_refused` */
export const requireClientCertificate = async (
  parts: EstParts,
  { mount }: EnrolmentScope,
  { certificate: given }: EstConfig,
  { certificate, chain }: ShownCertificate,
): Promise<ClientOrigin> => {
  const authenticator = given ?? BY_ISSUERS;
  const origin = await checkClientCertificate(
    {
      reads: parts.store,
      mount,
      authority: await parts.authorities.of(mount),
      authenticator,
      nowMs: parts.clock.nowMs(),
    },
    certificate,
  );
  if (authenticator.accessor === '') return origin;
  const { isAccepted } = await parts.clientCertificates.judge({
    namespaceId: mount.namespace?.id ?? '',
    accessor: authenticator.accessor,
    role: authenticator.role,
    certificates: [certificate.der, ...chain].map((der) => Buffer.from(der)),
  });
  if (!isAccepted)
    throw new KeelsonError('pki.est_certificate_refused', {
      reason: 'it does not sign in with the auth method that says who may enroll',
    });
  return origin;
};

/**
 * Enrolls a client by the certificate that it has proven to have. One of this mount enrols for its own names
 * only, as in a renewal: whoever has the key of one server must not become another.
 * @throws KeelsonError `pki.est_certificate_refused`, `request.invalid`
 */
export const enrollByCertificate = async (
  parts: IssuingParts,
  request: EnrolmentRequest,
  origin: ClientOrigin,
  shown: ParsedCertificate,
): Promise<Uint8Array> => {
  if (origin === 'own') checkRenewal(request.csr, shown);
  return enroll(parts, request);
};

/**
 * Renews a certificate that the client has proven to have.
 * @throws KeelsonError `pki.est_certificate_refused` when it has shown none, `request.invalid` when the
 *   request is for another name
 */
export const reenroll = async (
  parts: EstParts,
  request: EnrolmentRequest,
  config: EstConfig,
  renewed: ShownCertificate | undefined,
): Promise<Uint8Array> => {
  if (renewed === undefined)
    throw new KeelsonError('pki.est_certificate_refused', {
      reason: 'the certificate being renewed was not presented by TLS',
    });
  await requireClientCertificate(parts, request, config, renewed);
  checkRenewal(request.csr, renewed.certificate);
  return enroll(parts, request);
};
