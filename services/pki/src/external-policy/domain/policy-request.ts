/** The request document for the policy service (reference §8.2). */
import { KeelsonError } from '@keelson/errors';
import { encodePem } from '@keelson/x509';
import type { AuthorityUrls } from '../../authority-urls/domain/authority-urls.ts';
import type { IssuerInUse } from '../../issuers/domain/authority.ts';

/** `ica`: a certificate of an intermediate authority. */
export type IssuanceMode = 'issue' | 'sign' | 'ica' | 'acme';

type JsonValues = Readonly<Record<string, unknown>>;

export interface PolicyQuestion {
  readonly requestUuid: string;
  readonly mode: IssuanceMode;
  /** Empty when none is named. */
  readonly policyName: string;
  /** "pki/". */
  readonly mountPath: string;
  /** "" for the root namespace. */
  readonly namespacePath: string;
  readonly defaultTtlSeconds: number;
  readonly maxTtlSeconds: number;
  readonly isPerformanceSecondary: boolean;
  /** undefined when none is requested and there is no default. */
  readonly issuer: IssuerInUse | undefined;
  readonly urls: AuthorityUrls;
  readonly csrDer: Uint8Array;
  /** The request body as the client sent it. */
  readonly userValues: JsonValues;
  /** Undefined if nothing about the requester is sent. */
  readonly identity: JsonValues | undefined;
  /** Undefined unless it is an ACME order. */
  readonly acme: JsonValues | undefined;
}

/** Size limit of a request with the client's data, in bytes. */
const MAX_QUESTION_BYTES = 1024 * 1024;

/** "768h0m0s", as durations are written by the services that read this. */
export const formatDuration = (seconds: number): string =>
  `${Math.floor(seconds / 3600)}h${Math.floor(seconds / 60) % 60}m${seconds % 60}s`;

/**
 * @throws KeelsonError `request.too_large` when the client sent more than is passed on
 */
export const encodeQuestion = (question: PolicyQuestion): Uint8Array => {
  const { issuer, urls, mode } = question;
  const document = {
    request_version: 1,
    request_uuid: question.requestUuid,
    synchronous: true,
    user_request_key_values: {
      ...question.userValues,
      csr: `${encodePem('CERTIFICATE REQUEST', question.csrDer)}\n`,
    },
    ...(question.identity && { identity_request_key_values: question.identity }),
    ...(question.acme && { acme_request_key_values: question.acme }),
    vault_request_values: {
      policy_name: question.policyName,
      mount: question.mountPath,
      namespace: question.namespacePath,
      ns: question.namespacePath,
      vault_is_performance_standby: false,
      vault_is_performance_secondary: question.isPerformanceSecondary,
      issuance_mode: mode,
      vault_generated_private_key: mode === 'issue',
      requested_issuer_name: issuer?.issuer.name ?? '',
      requested_issuer_id: issuer?.issuer.id ?? '',
      requested_issuer_cert: issuer === undefined ? '' : `${issuer.pem}\n`,
      requested_issuance_config: {
        aia_values: {
          issuing_certificates: urls.issuingCertificates,
          crl_distribution_points: urls.crlDistributionPoints,
          delta_crl_distribution_points: urls.deltaCrlDistributionPoints,
          ocsp_servers: urls.ocspServers,
          enable_templating: urls.enableTemplating,
        },
        leaf_not_after_behavior: issuer?.issuer.leafNotAfterBehavior ?? '',
        mount_default_ttl: formatDuration(question.defaultTtlSeconds),
        mount_max_ttl: formatDuration(question.maxTtlSeconds),
      },
    },
  };
  const bytes = Buffer.from(JSON.stringify(document));
  if (bytes.byteLength > MAX_QUESTION_BYTES)
    throw new KeelsonError('request.too_large', { limitBytes: MAX_QUESTION_BYTES });
  return bytes;
};
