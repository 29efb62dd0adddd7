/** GET of a small file from an untrusted server. */

import type { IncomingMessage } from 'node:http';
import { connect, isIP } from 'node:net';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import { guarded } from '@keelson/errors';
import { type ValidationSettings } from './challenge-attempt.ts';
import { addressesOf } from './name-lookup.ts';
import { connectToPermitted, NotConnected } from './permitted-connection.ts';
import { errorCode, ValidationFailure } from './validation-failure.ts';

// Not an import, which would evaluate the module's getters and thereby load undici (5 MB and 30
// ms).
const { request: httpRequest } = process.getBuiltinModule('node:http');

const MAX_BODY_OCTETS = 512;
const MAX_HEADER_OCTETS = 8192;

export interface FetchedFile {
  readonly status: number;
  readonly location: string | undefined;
  /** Empty unless the status is 200. */
  readonly body: string;
}

const readBody = (response: IncomingMessage, host: string): Promise<string> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let body = '';
  response
    .setEncoding('latin1')
    .on(
      'data',
      guarded('pki/acme', (chunk: string) => {
        body += chunk;
        if (body.length > MAX_BODY_OCTETS)
          reject(
            new ValidationFailure(
              'incorrectResponse',
              `${host} answered with more than ${MAX_BODY_OCTETS} octets`,
            ),
          );
      }),
    )
    .once('end', () => resolve(body))
    .once('error', reject)
    .once('close', () => reject(new Error('closed before the end')));
  return promise;
};

interface Destination {
  readonly host: string;
  readonly port: number;
}

/**
 * RFC 8555 §8.3 proves control over port 80. The server's certificate is not verified, because the
 * client may not have one yet.
 */
const connectTls = ({ host, port }: Destination, name: string): TLSSocket =>
  tlsConnect({
    host,
    port,
    rejectUnauthorized: false,
    ...(isIP(name) === 0 && { servername: name }),
  });

/** The response to one request on a separate connection. */
const requestFrom = (
  url: URL,
  destination: Destination,
  signal: AbortSignal,
  connectMs: number,
): Promise<IncomingMessage> => {
  const isTls = url.protocol === 'https:';
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const request = httpRequest({
    ...destination,
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, 'user-agent': 'keelson-acme-validation', accept: '*/*' },
    maxHeaderSize: MAX_HEADER_OCTETS,
    signal,
    // No agent, which would cost more than it saves for a single request.
    createConnection: () => (isTls ? connectTls(destination, name) : connect(destination)),
  });
  let connected = false;
  request.once('socket', (socket) =>
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      connected = true;
    }),
  );
  request.setTimeout(connectMs, () => {
    request.destroy(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' }));
  });
  request.once('response', resolve);
  request.on('error', (cause) => {
    reject(connected ? cause : new NotConnected('no connection', { cause }));
  });
  // Closed without a response or an error: the server switched protocols.
  request.once('close', () => reject(new Error('closed without a response')));
  request.end();
  return promise;
};

/**
 * Fetches a file. Returns a redirect's target instead of following it. Each call resolves the host
 * again.
 * @throws ValidationFailure
 */
export const fetchFile = async (
  url: URL,
  settings: ValidationSettings,
  signal: AbortSignal,
): Promise<FetchedFile> => {
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const { ports, timeoutsMs } = settings;
  const port =
    url.port === '' ? ports[url.protocol === 'https:' ? 'tls' : 'http'] : Number(url.port);
  const addresses = await addressesOf({ type: 'dns', value: name }, settings, signal);
  try {
    const response = await connectToPermitted({ name, addresses, port }, settings, signal, (host) =>
      requestFrom(url, { host, port }, signal, timeoutsMs.connect),
    );
    try {
      const { statusCode: status = 0, headers } = response;
      const body = status === 200 ? await readBody(response, url.host) : '';
      return { status, location: headers.location, body };
    } finally {
      response.destroy();
    }
  } catch (error) {
    if (error instanceof ValidationFailure) throw error;
    signal.throwIfAborted();
    throw new ValidationFailure('connection', `reading from ${url.host}: ${errorCode(error)}`);
  }
};
