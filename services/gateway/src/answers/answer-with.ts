/**
 * Route handlers of the APIs: a service produces the response, whose bytes are passed on unchanged.
 */
import type { EdgeResponse } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { answerSpan, endWith } from '@keelson/logging/spans';
import { context, propagation, type Span, SpanKind, trace } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Exchange } from '../request/exchange.ts';
import { endWithAnswer, isCutShort } from '../request/incoming-body.ts';
import { negotiated } from './negotiated-answer.ts';
import { writeAnswer } from './write-answer.ts';

export type ServeExchange = (exchange: Exchange) => Promise<EdgeResponse>;

/** The span of a request; continues the client's trace. Without tracing it records nothing. */
const startSpan = ({ head, request }: Exchange): Span =>
  trace
    .getTracer('keelson')
    .startSpan(
      `HTTP ${head.method}`,
      { kind: SpanKind.SERVER, attributes: { 'http.request.method': head.method } },
      propagation.extract(context.active(), request.headers),
    );

const serveInSpan = async (
  span: Span,
  exchange: Exchange,
  serve: ServeExchange,
): Promise<EdgeResponse> => {
  const active = trace.setSpan(context.active(), span);
  const carrier: Record<string, string> = {};
  propagation.inject(active, carrier);
  exchange.head = { ...exchange.head, traceparent: carrier['traceparent'] ?? '' };
  return await endWith(span, async () => {
    try {
      const answer = await context.with(active, () => exchange.untilEnd(serve(exchange)));
      answerSpan(span, answer.head.status);
      return answer;
    } catch (error) {
      answerSpan(span, KeelsonError.from(error).httpStatus);
      throw error;
    } finally {
      span.updateName(`${exchange.head.method} ${exchange.group}`);
      span.setAttribute('keelson.request_id', exchange.requestId);
    }
  });
};

/**
 * Sends the response of `serve`; its errors go to the error handler.
 *
 * The only place that bypasses Fastify: `reply.send` would serialize, check and copy an answer that
 * is already complete, at 7 µs of CPU per request. `onSend` hooks therefore do not run for the
 * APIs.
 */
export const answerWith =
  (serve: ServeExchange) =>
  async ({ exchange, raw }: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const span = startSpan(exchange);
    const given = await (span.isRecording()
      ? serveInSpan(span, exchange, serve)
      : exchange.untilEnd(serve(exchange)));
    const answer = await negotiated(exchange, given);
    if (answer.head.status >= 400 && isCutShort(raw)) await endWithAnswer(exchange);
    const { body } = answer;
    const bytes = body instanceof Uint8Array ? body.byteLength : undefined;
    exchange.account = { ...exchange.account, route: given.head.route, bytes };
    await writeAnswer(reply.raw, answer, exchange.answerHeaders);
    reply.hijack();
  };
