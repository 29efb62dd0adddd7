/** From a request of node:http to its written answer: ids, trace, time limit, errors, metrics, log line. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { KeelsonError } from '@keelson/errors';
import { createRequestLog, type Logger } from '@keelson/logging';
import { context, propagation, type Span, SpanKind, trace } from '@opentelemetry/api';
import type { RenderError, Surface } from '../errors/error-answers.ts';
import type { RequestMetrics } from '../metrics/metrics.ts';
import type { SecurityHeaders } from '../server/security-headers.ts';
import type { ClientAddress } from './client-address.ts';
import { Exchange, writeAnswer } from './exchange.ts';
import { discardRest, isCutShort } from './incoming-body.ts';
import { readHead } from './request-head.ts';
import { recordedPath } from './signed-address.ts';
import type { ServeExchange } from './v1-surface.ts';

export interface ServeParts {
  readonly logger: Logger;
  readonly metrics: RequestMetrics;
  readonly renderError: RenderError;
  readonly timeoutMs: number;
  readonly publicUrl: string | undefined;
  readonly clientAddress: ClientAddress;
  readonly securityHeaders: SecurityHeaders;
}

export interface ServedSurface {
  readonly surface: Exclude<Surface, 'own'>;
  /** Without a trailing slash. */
  readonly prefix: string;
  readonly serve: ServeExchange;
}

export type ServeRequest = (
  served: ServedSurface,
  method: string,
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<void>;

const tracer = trace.getTracer('keelson');

/** The span of a request; continues the client's trace. Without tracing it records nothing. */
const startSpan = ({ head, request }: Exchange): Span =>
  tracer.startSpan(
    `HTTP ${head.method}`,
    { kind: SpanKind.SERVER, attributes: { 'http.request.method': head.method } },
    propagation.extract(context.active(), request.headers),
  );

const inSpan = async (
  span: Span,
  exchange: Exchange,
  work: (traceparent: string) => Promise<void>,
): Promise<void> => {
  const active = trace.setSpan(context.active(), span);
  const carrier: Record<string, string> = {};
  propagation.inject(active, carrier);
  try {
    await context.with(active, () => work(carrier['traceparent'] ?? ''));
    span.updateName(`${exchange.head.method} ${exchange.group}`);
    span.setAttribute('keelson.request_id', exchange.requestId);
  } finally {
    span.end();
  }
};

const pathOf = ({ surface }: ServedSurface, { head: { path } }: Exchange): string =>
  surface === 'api_v2' ? recordedPath(path) : path;

/** For a body that nobody reads to its end: the rest of it would be taken for the next request. */
const endWithAnswer = async ({ request, answerHeaders }: Exchange): Promise<void> => {
  answerHeaders['connection'] = 'close';
  await discardRest(request);
};

export const createServeRequest = (parts: ServeParts): ServeRequest => {
  const { logger, metrics, renderError, timeoutMs, publicUrl, clientAddress, securityHeaders } =
    parts;
  const logRequest = createRequestLog(logger);

  const answer = async (
    { surface, prefix, serve }: ServedSurface,
    exchange: Exchange,
    response: ServerResponse,
    traceparent: string,
  ): Promise<void> => {
    const { request, requestId } = exchange;
    try {
      exchange.head = readHead(request, {
        method: exchange.head.method,
        prefix,
        requestId,
        publicUrl,
        clientAddress,
        isV1: surface === 'v1',
        traceparent,
      });
      const answered = await exchange.untilEnd(serve(exchange));
      if (answered.head.status >= 400 && isCutShort(request)) await endWithAnswer(exchange);
      const streaming = writeAnswer(response, answered, exchange.answerHeaders);
      if (streaming !== undefined) await streaming;
    } catch (thrown) {
      if (response.headersSent) {
        logger.warn({ err: thrown, request_id: requestId }, 'answer broke off');
        response.destroy();
        return;
      }
      const error = KeelsonError.from(thrown);
      // The rest of its body may take as long again: the connection ends with the answer.
      if (error.code === 'request.deadline_exceeded')
        exchange.answerHeaders['connection'] = 'close';
      else if (error.httpStatus === 413 || isCutShort(request)) await endWithAnswer(exchange);
      const rendered = renderError(surface, thrown, requestId);
      await writeAnswer(response, rendered, exchange.answerHeaders);
    }
  };

  return async (served, method, request, response) => {
    const startedMs = performance.now();
    metrics.started();
    const exchange = new Exchange(request, response, method, timeoutMs, securityHeaders(request));
    exchange.group = served.surface;
    const answerAndLog = async (traceparent: string): Promise<void> => {
      await answer(served, exchange, response, traceparent);
      logRequest({
        requestId: exchange.requestId,
        method: exchange.head.method,
        path: served.prefix + pathOf(served, exchange),
        status: response.statusCode,
        durationMs: Math.round((performance.now() - startedMs) * 1000) / 1000,
        remoteAddress: exchange.head.remoteAddress,
      });
    };
    try {
      const span = startSpan(exchange);
      await (span.isRecording() ? inSpan(span, exchange, answerAndLog) : answerAndLog(''));
    } finally {
      const seconds = (performance.now() - startedMs) / 1000;
      metrics.finished(exchange.group, method, response.statusCode, seconds);
    }
  };
};
