/** OCSP over HTTP (RFC 6960 appendix A), without a token (reference §5.7). */

import type { Clock } from '@keelson/clock';
import {
  decodePath,
  type EdgeResponse,
  edgeResponse,
  type Route,
  type RouteExchange,
} from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { hasCode, KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import { type OcspFailure, type OcspRequest, ocspFailure, parseOcspRequest } from '@keelson/x509';
import { publicHeaders } from '../certificates/raw-answer.ts';
import type { Authorities } from '../issuers/issuer-records.ts';
import type { OcspResponder } from './ocsp-operations.ts';
import type { OcspAnswer } from './presigned-answers.ts';

export interface OcspRouteParts {
  readonly authorities: Authorities;
  readonly responder: OcspResponder;
  readonly clock: Clock;
  readonly logger: Logger;
}

const HEADERS = { 'content-type': 'application/ocsp-response' } as const;
const STATUS_OF: Readonly<Record<OcspFailure, number>> = {
  malformedRequest: 400,
  internalError: 500,
  unauthorized: 401,
};

const MAX_POST_BYTES = 64 * 1024;
const MAX_GET_LENGTH = 2048;
/** Also in the alphabet for URLs, which some clients use although RFC 6960 does not name it. */
const BASE64 = /^(?:[A-Za-z0-9+/]+|[A-Za-z0-9_-]+)={0,2}$/;

const SUCCESS = edgeResponse(200, HEADERS).head;

/** RFC 5019 §6: the answer to a GET may be stored, unless it is to one nonce. */
const toResponse = (
  { head }: RouteExchange,
  { der, thisUpdateMs, nextUpdateMs, isForAll }: OcspAnswer,
  nowMs: number,
): EdgeResponse => {
  if (head.method !== 'GET' || !isForAll) return { head: SUCCESS, body: der };
  const freshness = { headers: head.headers, nowMs };
  const shown = { content: der, modifiedAtMs: thisUpdateMs, nextUpdateMs };
  const { isKnown, headers } = publicHeaders(freshness, shown);
  return isKnown ? edgeResponse(304, headers) : edgeResponse(200, { ...HEADERS, ...headers }, der);
};

const failure = (kind: OcspFailure): EdgeResponse =>
  edgeResponse(STATUS_OF[kind], HEADERS, ocspFailure(kind));

const malformed = (text: string): KeelsonError => new KeelsonError('pki.malformed', { text });

/** Standard base64 in the path may hold slashes, so the path is taken as a whole. */
const fromPath = (path: string, prefix: string): Uint8Array => {
  const encoded = decodePath(path).slice(prefix.length);
  if (encoded.length >= MAX_GET_LENGTH || !BASE64.test(encoded))
    throw malformed('the OCSP request in the path is not base64 or is too long');
  return Buffer.from(encoded, 'base64');
};

const readRequest = async (exchange: RouteExchange, prefix: string): Promise<OcspRequest> =>
  parseOcspRequest(
    exchange.head.method === 'POST'
      ? await exchange.body.bytes(MAX_POST_BYTES)
      : fromPath(exchange.head.path, prefix),
  );

const serve = async (
  { authorities, responder, clock, logger }: OcspRouteParts,
  exchange: RouteExchange,
  path: string,
  unified: boolean,
): Promise<EdgeResponse> => {
  const mount = requireMount(exchange.head);
  try {
    const request = await readRequest(exchange, `${path}/`);
    // Where lists are unified, every answer includes the revocations of the other clusters.
    const isServed = !unified || (await authorities.of(mount)).settings.crl.unifiedCrl;
    const answer = isServed ? await responder.answer(mount, request) : undefined;
    return answer === undefined
      ? failure('unauthorized')
      : toResponse(exchange, answer, clock.nowMs());
  } catch (error) {
    if (hasCode(error, 'pki.malformed') || hasCode(error, 'request.too_large'))
      return failure('malformedRequest');
    if (KeelsonError.from(error).code !== 'internal') throw error;
    logger.error({ err: error, request_id: exchange.head.requestId }, 'OCSP request failed');
    return failure('internalError');
  }
};

const operation = (summary: string) => ({
  tags: ['revocation'],
  summary,
  responses: {
    200: { description: 'OCSPResponse, DER.', content: { [HEADERS['content-type']]: {} } },
    default: {
      description: 'The request is malformed, or there is no such mount.',
      content: { [HEADERS['content-type']]: {}, 'application/json': {} },
    },
  },
});

export const ocspRoutes = (parts: OcspRouteParts): Route[] =>
  (
    [
      ['/ocsp', false],
      ['/unified-ocsp', true],
    ] as const
  ).flatMap(([path, unified]): Route[] => [
    {
      method: 'POST',
      path,
      operation: () => operation('Query the status of certificates'),
      handle: (exchange) => serve(parts, exchange, path, unified),
    },
    {
      method: 'GET',
      path: `${path}/*`,
      operation: () => operation('Query the status of certificates, with the request in base64'),
      handle: (exchange) => serve(parts, exchange, path, unified),
    },
  ]);
