/** The certificate of a TLS client, whose key the client has proven to hold. */
import type { RequestHead } from '@keelson/proto/edge/v1/edge';

/** RFC 9440 §2.1. Only the gateway sets it, and removes one that a client sends. */
const CLIENT_CERTIFICATE_HEADER = 'client-cert';
const BYTE_SEQUENCE = /^:([A-Za-z0-9+/]+={0,2}):$/;

/** Its DER; undefined where the client showed none. */
export const clientCertificateDer = ({
  headers,
}: Pick<RequestHead, 'headers'>): Uint8Array | undefined => {
  const [, base64] = BYTE_SEQUENCE.exec(headers[CLIENT_CERTIFICATE_HEADER] ?? '') ?? [];
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64');
};
