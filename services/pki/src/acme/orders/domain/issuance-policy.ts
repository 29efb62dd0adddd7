/**
 * The port to an external policy service, which decides about the certificate of an order instead
 * of a role (reference §8.5).
 */
import type { CsrFields } from '@keelson/x509';
import type { Account } from '../../accounts/domain/account.ts';
import type { DirectoryMount, PolicyOffer } from '../../directories/domain/directory-mount.ts';
import type { Order } from './order.ts';

/** An order being finalized: its identifiers are proven, and its CSR names exactly these. */
export interface PolicyRequest {
  readonly mount: DirectoryMount;
  /** "" if the directory names none. */
  readonly policyName: string;
  /** Issuer named in the path; undefined if the policy service may choose. */
  readonly issuerRef: string | undefined;
  /** The longest lifetime that mount and ACME allow. */
  readonly maxTtlSeconds: number;
  readonly accountId: string;
  readonly account: Account;
  readonly orderId: string;
  readonly order: Order;
  readonly csrDer: Uint8Array;
  readonly csr: CsrFields;
}

export interface PolicyCertificate {
  readonly der: Uint8Array;
  readonly serialKey: string;
  readonly notAfterMs: number;
  /** Id of the issuer that signed it. */
  readonly issuerId: string;
}

export interface IssuancePolicy extends PolicyOffer {
  /**
   * Obtains the decision and signs the certificate, which is stored by the commit of the order.
   * @throws AcmeProblem or KeelsonError if it is refused
   */
  issue(request: PolicyRequest): Promise<PolicyCertificate>;
}
