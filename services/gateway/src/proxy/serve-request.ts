/** From a request of node:http to its written answer: ids, trace, time limit, errors, metrics, log line. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import { type Context, context, propagation, SpanKind, trace } from '@opentelemetry/api';
import type { RenderError, Surface } from '../errors/error-answers.ts';
import type { RequestMetrics } from '../metrics/metrics.ts';
import { type Exchange, openExchange, writeAnswer } from './exchange.ts';
import { discardRest } from './incoming-body.ts';
import { emptyHead, readHead, requestIdOf } from './request-head.ts';
import type { ServeExchange } from './v1-surface.ts';

export interface ServeParts {
  readonly logger: Logger;
  readonly metrics: RequestMetrics;
  readonly renderError: RenderError;
  readonly timeoutMs: number;
  readonly publicUrl: string | undefined;
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

/** Runs `work` in a span that continues the client's trace; without tracing it costs next to nothing. */
const inSpan = async (
  request: IncomingMessage,
  method: string,
  work: (traceparent: string) => Promise<Exchange>,
): Promise<void> => {
  const span = tracer.startSpan(
    `HTTP ${method}`,
    { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } },
    propagation.extract(context.active(), request.headers),
  );
  if (!span.isRecording()) {
    await work('');
    return;
  }
  const active: Context = trace.setSpan(context.active(), span);
  const carrier: Record<string, string> = {};
  propagation.inject(active, carrier);
  try {
    const exchange = await context.with(active, () => work(carrier['traceparent'] ?? ''));
    span.updateName(`${method} ${exchange.group}`);
    span.setAttribute('keelson.request_id', exchange.head.requestId);
  } finally {
    span.end();
  }
};

export const createServeRequest = (parts: ServeParts): ServeRequest => {
  const { logger, metrics, renderError, timeoutMs, publicUrl } = parts;

  const answer = async (
    { surface, prefix, serve }: ServedSurface,
    method: string,
    request: IncomingMessage,
    response: ServerResponse,
    traceparent: string,
  ): Promise<Exchange> => {
    const requestId = requestIdOf(request);
    let exchange = openExchange(request, response, emptyHead(requestId, method), timeoutMs);
    try {
      const head = readHead(request, {
        method,
        prefix,
        requestId,
        publicUrl,
        isV1: surface === 'v1',
      });
      exchange = { ...exchange, head: traceparent === '' ? head : { ...head, traceparent } };
      const answered = await Promise.race([serve(exchange), exchange.expired]);
      await writeAnswer(response, answered, exchange.answerHeaders);
    } catch (thrown) {
      if (response.headersSent) {
        logger.warn({ err: thrown, request_id: requestId }, 'answer broke off');
        response.destroy();
        return exchange;
      }
      const error = KeelsonError.from(thrown);
      if (error.httpStatus === 413) {
        exchange.answerHeaders['connection'] = 'close';
        await discardRest(request);
      }
      const rendered = renderError(surface, thrown, requestId);
      await writeAnswer(response, rendered, exchange.answerHeaders);
    }
    return exchange;
  };

  return async (served, method, request, response) => {
    const startedMs = performance.now();
    metrics.started();
    let group: string = served.surface;
    try {
      await inSpan(request, method, async (traceparent) => {
        const exchange = await answer(served, method, request, response, traceparent);
        group = exchange.group;
        if (logger.isLevelEnabled('info'))
          logger.info(
            {
              request_id: exchange.head.requestId,
              method: exchange.head.method,
              path: served.prefix + exchange.head.path,
              status: response.statusCode,
              duration_ms: Math.round((performance.now() - startedMs) * 1000) / 1000,
              remote_address: exchange.head.remoteAddress,
            },
            'request',
          );
        return exchange;
      });
    } finally {
      const seconds = (performance.now() - startedMs) / 1000;
      metrics.finished(group, method, response.statusCode, seconds);
    }
  };
};
