/** The certificate of a TLS client. TLS has verified possession of its key and nothing else. */
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { CLIENT_CERTIFICATE } from './header-names.ts';

const certificateOf = ({ socket }: IncomingMessage): Uint8Array | undefined =>
  socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.raw : undefined;

export const hasClientCertificate = (request: IncomingMessage): boolean =>
  certificateOf(request) !== undefined;

/** The header that passes it to a service (RFC 9440 §2.1: a byte sequence). */
export const clientCertificateHeader = (
  request: IncomingMessage,
): Readonly<Record<string, string>> | undefined => {
  const der = certificateOf(request);
  return der && { [CLIENT_CERTIFICATE]: `:${Buffer.from(der).toString('base64')}:` };
};
