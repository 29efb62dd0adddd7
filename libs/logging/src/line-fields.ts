/** What every line has besides what is logged. */
import { isSpanContextValid, trace } from '@opentelemetry/api';

/** Ties a line to the trace under way. */
export const traceFields = (): { trace_id?: string; span_id?: string } => {
  const context = trace.getActiveSpan()?.spanContext();
  return context !== undefined && isSpanContextValid(context)
    ? { trace_id: context.traceId, span_id: context.spanId }
    : {};
};

/** Time of a line, made once for all lines of a millisecond: `,"time":"2030-01-01T00:00:00.000Z"`. */
export const createTimestamp = (): (() => string) => {
  let madeForMs = 0;
  let field = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs !== madeForMs) {
      madeForMs = nowMs;
      field = `,"time":"${new Date(nowMs).toISOString()}"`;
    }
    return field;
  };
};
