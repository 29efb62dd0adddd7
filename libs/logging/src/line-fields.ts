/** Fields added to every log line. */
import { isSpanContextValid, trace } from '@opentelemetry/api';

/** Links a line to the active trace. */
export const traceFields = (): { trace_id?: string; span_id?: string } => {
  const context = trace.getActiveSpan()?.spanContext();
  return context !== undefined && isSpanContextValid(context)
    ? { trace_id: context.traceId, span_id: context.spanId }
    : {};
};

/** Time of a line, formatted once per millisecond: `,"time":"2030-01-01T00:00:00.000Z"`. */
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
