/**
 * Spans of traces, through whatever OpenTelemetry SDK the process registered. Their attributes name operations
 * and codes only: paths, names and messages may quote what a request contains.
 */
import { KeelsonError } from '@keelson/errors';
import { type Attributes, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

/** Marks the span of an operation that failed. A refusal (status below 500) is an outcome, no fault. */
export const failSpan = (span: Span, thrown: unknown): void => {
  const { code, httpStatus } = KeelsonError.from(thrown);
  span.setAttribute('error.type', code);
  if (httpStatus >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
};

/** Records the status of an answer. */
export const answerSpan = (span: Span, status: number): void => {
  span.setAttribute('http.response.status_code', status);
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
};

/** Ends a span with its work, and marks it if the work fails. */
export const endWith = async <T>(span: Span, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    failSpan(span, error);
    throw error;
  } finally {
    span.end();
  }
};

/**
 * Runs a call to a database or broker in a span of the current trace. Outside of a trace it only runs it.
 * @param attributes names of the OpenTelemetry conventions, such as `db.system.name`
 */
export const callInSpan = <T>(
  name: string,
  attributes: Attributes,
  call: () => Promise<T>,
): Promise<T> => {
  if (trace.getActiveSpan() === undefined) return call();
  return trace
    .getTracer('keelson')
    .startActiveSpan(name, { kind: SpanKind.CLIENT, attributes }, (span) => endWith(span, call));
};
