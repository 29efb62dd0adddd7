/**
 * The first hook of every request: creates its context, with the request id for the answer, the log
 * and audit entries.
 */
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { Exchange } from '../request/exchange.ts';
import type { createSecurityHeaders } from '../request/security-headers.ts';
import type { Surface } from '../request/surface.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the first hook. */
    exchange: Exchange;
  }
}

export interface ExchangeRules {
  /** Default time limit of a request. */
  readonly timeoutMs: number;
  /** Time that a client has to read an answer, after `timeoutMs`. */
  readonly sendingMs: number;
  readonly securityHeaders: ReturnType<typeof createSecurityHeaders>;
  /** Whether connections are closed after the current response. */
  readonly isDraining: () => boolean;
}

export const createExchange = (
  { timeoutMs, sendingMs, securityHeaders, isDraining }: ExchangeRules,
  surface: Surface,
  { raw: request, id }: FastifyRequest,
  { raw: response }: FastifyReply,
): Exchange => {
  const headers = securityHeaders(request);
  const times = { timeoutMs, sendingMs };
  const exchange = new Exchange({ request, response, requestId: id, surface, headers, ...times });
  if (isDraining()) exchange.answerHeaders['connection'] = 'close';
  return exchange;
};

export const openExchange =
  (rules: ExchangeRules, surface: Surface): onRequestHookHandler =>
  (request, reply, done) => {
    request.exchange = createExchange(rules, surface, request, reply);
    done();
  };
