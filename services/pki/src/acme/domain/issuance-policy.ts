/** Where an external service decides what is issued for an order, instead of a role (reference §8.5). */
import type { CsrFields } from '@keelson/x509';
import type { Account } from './account.ts';
import type { Order } from './order.ts';

/** The mount an order is for. */
export interface PolicyMount {
  readonly uuid: string;
  readonly local: boolean;
  /** "pki/". */
  readonly path: string;
  /** "" for the root namespace. */
  readonly namespacePath: string;
  readonly defaultLeaseTtlSeconds: number;
  readonly maxLeaseTtlSeconds: number;
}

/** A finalized order: its identifiers are proven, and its CSR names exactly them. */
export interface PolicyRequest {
  readonly mount: PolicyMount;
  /** "": none named. */
  readonly policyName: string;
  /** From the path; undefined where the policy service may choose. */
  readonly issuerRef: string | undefined;
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
  /** Of the issuer that signed it. */
  readonly issuerId: string;
}

export interface IssuancePolicy {
  /** Whether the mount has a policy service: without one its directories do not exist. */
  isOffered(mount: PolicyMount): Promise<boolean>;
  /**
   * Has the certificate decided, and signs it. The order's own commit stores it.
   * @throws AcmeProblem or KeelsonError where it is refused
   */
  issue(request: PolicyRequest): Promise<PolicyCertificate>;
}
