/**
 * OpenSSL's reasons for a certificate that does not lead to a trusted one. Node.js adds advice about its own
 * command line to them, which does not help operators of Keelson.
 */
const UNTRUSTED: ReadonlySet<unknown> = new Set([
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Whether a TLS connection failed because no trusted certificate vouches for the server. */
export const isUntrustedCertificate = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && UNTRUSTED.has(error.code);
