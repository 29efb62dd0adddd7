/** The head of a request as received, before anything in it is resolved. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { KeelsonError } from '@keelson/errors';
import { Dialect, type RequestHead } from '@keelson/proto/edge/v1/edge';
import type { ClientAddress } from './client-address.ts';
import { dialectOf, forwardedHeaders } from './header-names.ts';
import { effectiveMethod, isBelow, parseTarget } from './request-target.ts';
import type { Surface } from './surface.ts';

const REQUEST_ID = /^[\w.:-]{1,128}$/;
/** RFC 9110 §7.2, restricted to characters that may appear in links. */
const AUTHORITY = /^(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/;

const isHost = (name: string | undefined): boolean => name?.length === 4 && /^host$/i.test(name);

/**
 * The single Host header of a request (RFC 9112 §3.2); HTTP/1.0 may omit it. Several, or one that
 * contradicts the authority of HTTP/2 (RFC 9113 §8.3.1), are refused, because Node shows the first,
 * while a proxy in front may have used another.
 * @throws KeelsonError `request.invalid`
 */
export const requireHost = ({ headers, httpVersion, rawHeaders }: IncomingMessage): string => {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (isHost(rawHeaders[at])) count += 1;
  if (count > 1)
    throw new KeelsonError('request.invalid', { text: 'the request has several Host headers' });
  const { host, ':authority': authority = host } = headers;
  if (authority !== host)
    throw new KeelsonError('request.invalid', {
      text: 'the Host header differs from the authority of the request',
    });
  if (host === undefined && httpVersion === '1.0') return 'localhost';
  if (host === undefined || !AUTHORITY.test(host))
    throw new KeelsonError('request.invalid', {
      text: 'the Host header is missing or not valid',
    });
  return host;
};

const schemeOf = ({ socket }: IncomingMessage): string =>
  'encrypted' in socket && socket.encrypted === true ? 'https' : 'http';

/** The client's request id if it is plain text of a bounded length, else a new one. */
export const requestIdOf = ({ headers }: IncomingMessage): string => {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
};

/** The head before anything in the request has been read. */
export const emptyHead = (requestId: string, method: string): RequestHead => ({
  requestId,
  method,
  path: '/',
  query: '',
  headers: {},
  dialect: Dialect.SPECIFICATION,
  remoteAddress: '',
  baseUrl: '',
  traceparent: '',
  namespace: undefined,
  mount: undefined,
  caller: undefined,
  principal: undefined,
});

export interface HeadRules {
  /** Scheme and authority of links; undefined if they are taken from the request. */
  readonly publicUrl: string | undefined;
  readonly clientAddress: ClientAddress;
}

/**
 * Reads the head of a request, with nothing resolved yet.
 * @throws KeelsonError `request.invalid`; `request.unsupported_path` for a path that is below the
 * surface's prefix only when decoded, because the remaining bytes could not be determined
 */
export const readHead = (
  request: IncomingMessage,
  requestId: string,
  { name, prefix }: Surface,
  { publicUrl, clientAddress }: HeadRules,
): RequestHead => {
  const host = requireHost(request);
  const { method = '', url = '/', headers } = request;
  const { path, query } = parseTarget(url);
  if (!isBelow(path, prefix)) throw new KeelsonError('request.unsupported_path');
  const isV1 = name === 'v1';
  return {
    requestId,
    method: isV1 ? effectiveMethod(method, query) : method,
    path: path.slice(prefix.length) || '/',
    query,
    headers: forwardedHeaders(headers),
    dialect: isV1 ? dialectOf(headers) : Dialect.SPECIFICATION,
    remoteAddress: clientAddress(request),
    baseUrl: publicUrl ?? `${schemeOf(request)}://${host}`,
    traceparent: '',
    namespace: undefined,
    mount: undefined,
    caller: undefined,
    principal: undefined,
  };
};
