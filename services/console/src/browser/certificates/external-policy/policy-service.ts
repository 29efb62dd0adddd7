/** The service that decides about certificates in place of roles, and the form of its settings. */

/** Its timeout is answered in nanoseconds, and taken as a duration. */
const NANOSECONDS = 1_000_000_000;

export interface PolicyService {
  readonly enabled: boolean;
  readonly external_service_url: string;
  readonly timeout: number;
  readonly trusted_ca: string;
  readonly trusted_leaf_certificate_bundle: string;
  /** The private key with it is never answered. */
  readonly vault_client_cert_bundle_no_keys: string;
  readonly entity_jmespath: string;
  readonly group_jmespath: string;
  readonly external_service_last_updated: string;
  readonly external_service_validated: boolean;
  readonly last_successful_request: string;
  readonly last_failed_request: string;
  /** "" if the last request was answered. */
  readonly last_failure: string;
}

export const timeoutSeconds = ({ timeout }: Pick<PolicyService, 'timeout'>): number =>
  timeout / NANOSECONDS;

export const policyValues = (service: PolicyService) => ({
  enabled: service.enabled,
  external_service_url: service.external_service_url,
  timeout: `${timeoutSeconds(service)}s`,
  trusted_ca: service.trusted_ca,
  trusted_leaf_certificate_bundle: service.trusted_leaf_certificate_bundle,
  vault_client_cert_bundle: '',
  removes_client_certificate: false,
  entity_jmespath: service.entity_jmespath,
  group_jmespath: service.group_jmespath,
});

export type PolicyValues = ReturnType<typeof policyValues>;

/**
 * Only what was changed: the client's private key is not known here, and stays unless another one is given.
 * @throws Error when a bundle is given and taken away
 */
export const changedPolicy = ({
  removes_client_certificate: isRemoved,
  ...changed
}: Partial<PolicyValues>): object => {
  if (isRemoved === true && (changed.vault_client_cert_bundle ?? '') !== '')
    throw new Error('Enter a client certificate, or remove the one that is stored, but not both.');
  return { ...changed, ...(isRemoved === true && { vault_client_cert_bundle: '' }) };
};
