/**
 * The certificates of a client: those of its TLS connection, of which TLS has verified possession of the key and
 * nothing else, or those that a proxy which terminates TLS has verified in the same way and passes on (RFC 9440).
 */
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import {
  CLIENT_CERTIFICATE,
  CLIENT_CERTIFICATE_CHAIN,
  parseClientCertificates,
} from '@keelson/edge';
import { createNetworks } from '@keelson/edge/networks';
import { KeelsonError } from '@keelson/errors';
import { plainAddress } from '../limits/client-network.ts';
import { connectionOf } from './connection.ts';

/** Beyond these, intermediate certificates are left out. */
const MAX_INTERMEDIATES = 8;
const MAX_INTERMEDIATE_BYTES = 24_576;

/** DER: the certificate of the client, then the intermediate ones that it sent; an empty list without one. */
export type ClientCertificates = (request: IncomingMessage) => readonly Uint8Array[];

const bounded = ([certificate, ...chain]: readonly Uint8Array[]): readonly Uint8Array[] => {
  let bytes = 0;
  const kept = chain.slice(0, MAX_INTERMEDIATES).filter(({ byteLength }) => {
    bytes += byteLength;
    return bytes <= MAX_INTERMEDIATE_BYTES;
  });
  return certificate === undefined ? [] : [certificate, ...kept];
};

const readConnection = ({ socket }: IncomingMessage): readonly Uint8Array[] => {
  const found: Uint8Array[] = [];
  if (!(socket instanceof TLSSocket)) return found;
  let next = socket.getPeerX509Certificate();
  while (next !== undefined && found.length <= MAX_INTERMEDIATES) {
    found.push(next.raw);
    next = next.issuerCertificate;
  }
  return bounded(found);
};

/** Certificates of connections, which are read once: Node gives those of a chain away with the first reading. */
const known = new WeakMap<object, readonly Uint8Array[]>();

const ofConnection = (request: IncomingMessage): readonly Uint8Array[] => {
  const connection = connectionOf(request);
  const certificates = known.get(connection) ?? readConnection(request);
  known.set(connection, certificates);
  return certificates;
};

const ofHeaders = ({ headers }: IncomingMessage): readonly Uint8Array[] => {
  const one = (name: string) => [headers[name] ?? []].flat().join(',');
  const certificate = one(CLIENT_CERTIFICATE);
  if (certificate === '') return [];
  const certificates = parseClientCertificates({
    [CLIENT_CERTIFICATE]: certificate,
    [CLIENT_CERTIFICATE_CHAIN]: one(CLIENT_CERTIFICATE_CHAIN),
  });
  if (certificates === undefined)
    throw new KeelsonError('request.invalid', {
      text: 'the headers Client-Cert and Client-Cert-Chain must be byte sequences (RFC 9440)',
    });
  return bounded(certificates);
};

/**
 * @param proxies addresses and networks whose headers say which certificates the client has; the certificate of such
 *   a proxy itself is never that of a client
 * @returns a function that throws KeelsonError `request.invalid` if the headers of such a proxy are malformed
 */
export const createClientCertificates = (proxies: readonly string[]): ClientCertificates => {
  const trusted = createNetworks(proxies);
  return (request) =>
    proxies.length > 0 && trusted.includes(plainAddress(request.socket.remoteAddress ?? ''))
      ? ofHeaders(request)
      : ofConnection(request);
};
