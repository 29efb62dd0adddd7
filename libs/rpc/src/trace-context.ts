/** W3C trace context across calls, through whatever OpenTelemetry SDK the process registered. */
import { endWith } from '@keelson/logging/spans';
import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  trace,
} from '@opentelemetry/api';

export type TraceCarrier = Record<string, string>;

/** The headers that let the callee continue the current trace; empty when nothing is traced. */
export const injectTraceContext = (): TraceCarrier => {
  const carrier: TraceCarrier = {};
  propagation.inject(context.active(), carrier);
  return carrier;
};

const contextOf = (carrier: TraceCarrier): Context => propagation.extract(ROOT_CONTEXT, carrier);

/** Runs `serve` inside a server span that continues the caller's trace. */
export const serveInTrace = <T>(
  carrier: TraceCarrier,
  spanName: string,
  serve: () => Promise<T>,
): Promise<T> =>
  context.with(contextOf(carrier), () =>
    trace
      .getTracer('keelson')
      .startActiveSpan(spanName, { kind: SpanKind.SERVER }, (span) => endWith(span, serve)),
  );
