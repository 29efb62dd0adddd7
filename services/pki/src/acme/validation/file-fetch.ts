/** GET of a small file from a server that nobody vouches for. */
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { ValidationSettings } from './challenge-validation.ts';
import { addressesOf } from './name-lookup.ts';
import { connectToPermitted, NotConnected } from './permitted-connection.ts';
import { errorCode, ValidationFailure } from './validation-failure.ts';

const MAX_BODY_OCTETS = 512;
const MAX_HEADER_OCTETS = 8192;

export interface FetchedFile {
  readonly status: number;
  readonly location: string | undefined;
  /** Empty unless the status is 200. */
  readonly body: string;
}

const readBody = async (response: IncomingMessage, host: string): Promise<string> => {
  let body = '';
  for await (const chunk of response.setEncoding('latin1')) {
    body += chunk as string;
    if (body.length > MAX_BODY_OCTETS)
      throw new ValidationFailure(
        'incorrectResponse',
        `${host} answered with more than ${MAX_BODY_OCTETS} octets`,
      );
  }
  return body;
};

/** The response to one request over a connection of its own to `address`. */
const requestFrom = (
  url: URL,
  options: RequestOptions,
  connectMs: number,
): Promise<IncomingMessage> => {
  const isTls = url.protocol === 'https:';
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const request = isTls
    ? // RFC 8555 §8.3 proves control over port 80; the certificate is what the client came for.
      httpsRequest({
        ...options,
        rejectUnauthorized: false,
        ...(isIP(name) === 0 && { servername: name }),
      })
    : httpRequest(options);
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
  // Without a response and without an error: the other side changed the protocol.
  request.once('close', () => reject(new Error('closed without a response')));
  request.end();
  return promise;
};

/**
 * Answers with a redirect's target instead of following it. Each call looks the host up anew.
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
      requestFrom(
        url,
        {
          host,
          port,
          path: `${url.pathname}${url.search}`,
          headers: { host: url.host, 'user-agent': 'keelson-acme-validation', accept: '*/*' },
          agent: false,
          maxHeaderSize: MAX_HEADER_OCTETS,
          signal,
        },
        timeoutsMs.connect,
      ),
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
