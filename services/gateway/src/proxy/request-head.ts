/** What a request says of itself, before anything about it is resolved. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { KeelsonError } from '@keelson/errors';
import { Dialect, type RequestHead } from '@keelson/proto/edge/v1/edge';
import type { ClientAddress } from './client-address.ts';
import { dialectOf, forwardedHeaders } from './header-names.ts';
import { effectiveMethod, parseTarget } from './request-target.ts';

const REQUEST_ID = /^[\w.:-]{1,128}$/;
/** RFC 9110 §7.2; what a client may make appear in links. */
const AUTHORITY = /^(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/;

const isHost = (name: string | undefined): boolean => name?.length === 4 && /^host$/i.test(name);

/**
 * The one Host header of a request (RFC 9112 §3.2); HTTP/1.0 may be without it. Of several Node shows the
 * first, and a proxy in front may have gone by another.
 * @throws KeelsonError `request.invalid`
 */
export const requireHost = ({ headers, httpVersion, rawHeaders }: IncomingMessage): string => {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (isHost(rawHeaders[at])) count += 1;
  if (count > 1)
    throw new KeelsonError('request.invalid', { text: 'the request has several Host headers' });
  const { host } = headers;
  if (host === undefined && httpVersion === '1.0') return 'localhost';
  if (host === undefined || !AUTHORITY.test(host))
    throw new KeelsonError('request.invalid', {
      text: 'the Host header is missing or not valid',
    });
  return host;
};

const schemeOf = ({ socket }: IncomingMessage): string =>
  'encrypted' in socket && socket.encrypted === true ? 'https' : 'http';

export const requestIdOf = ({ headers }: IncomingMessage): string => {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
};

/** The head before anything about the request has been judged. */
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

/**
 * What the request says, with nothing resolved yet.
 * @param prefix of the surface, without a trailing slash: the path below it goes to the service
 * @throws KeelsonError `request.invalid`
 */
export const readHead = (
  request: IncomingMessage,
  {
    method,
    prefix,
    requestId,
    publicUrl,
    clientAddress,
    isV1,
    traceparent,
  }: {
    readonly method: string;
    readonly prefix: string;
    readonly requestId: string;
    readonly publicUrl: string | undefined;
    readonly clientAddress: ClientAddress;
    readonly isV1: boolean;
    readonly traceparent: string;
  },
): RequestHead => {
  const host = requireHost(request);
  const { path, query } = parseTarget(request.url ?? '/');
  const { headers } = request;
  return {
    requestId,
    method: isV1 ? effectiveMethod(method, query) : method,
    path: path.slice(prefix.length) || '/',
    query,
    headers: forwardedHeaders(headers),
    dialect: isV1 ? dialectOf(headers) : Dialect.SPECIFICATION,
    remoteAddress: clientAddress(request),
    baseUrl: publicUrl ?? `${schemeOf(request)}://${host}`,
    traceparent,
    namespace: undefined,
    mount: undefined,
    caller: undefined,
    principal: undefined,
  };
};
