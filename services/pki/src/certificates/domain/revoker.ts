/** Whoever caused a revocation. */
export type Revoker = (
  | {
      readonly kind: 'token';
      readonly displayName: string;
      readonly metadata: Readonly<Record<string, string>>;
      /** Leads to the entry of the audit log. */
      readonly requestId: string;
    }
  | { readonly kind: 'acme-account'; readonly accountId: string }
  /** A request of ACME that was signed by the key of the certificate. */
  | { readonly kind: 'certificate-key' }
  /** The lease of the certificate ended. */
  | { readonly kind: 'lease' }
) & {
  /** The cluster that asked this one to revoke; undefined if this one was asked. */
  readonly clusterId?: string | undefined;
};
