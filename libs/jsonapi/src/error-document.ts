/**
 * Errors as JSON:API documents. `status` is a string, because clients otherwise lose title and detail. An
 * error with several reasons is an AggregateError of KeelsonErrors with the same status.
 */
import {
  allowHeader,
  type EdgeRequest,
  type EdgeResponse,
  edgeResponse,
  retryHeader,
} from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';

const TITLES: Readonly<Record<number, string>> = {
  400: 'bad request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not found',
  405: 'method not allowed',
  409: 'conflict',
  412: 'precondition failed',
  413: 'payload too large',
  415: 'unsupported media type',
  422: 'invalid attribute',
  429: 'Too many requests',
  503: 'service unavailable',
  504: 'gateway timeout',
};

export const JSON_API_MEDIA_TYPE = 'application/vnd.api+json';

/** A schema violation of one field. */
export interface Violation {
  /** RFC 6901 pointer into the request document. */
  readonly pointer: string;
  readonly text: string;
}

/** The error for one field. */
export const invalidAttribute = (pointer: string, text: string): KeelsonError =>
  new KeelsonError('jsonapi.invalid_attribute', { pointer, text });

/** The error for one query parameter. */
export const invalidParameter = (parameter: string, text: string): KeelsonError =>
  new KeelsonError('jsonapi.invalid_attribute', { parameter, text });

/** Throws if there are violations. */
export const refuseInvalid = (violations: readonly Violation[]): void => {
  const reasons = violations.map(({ pointer, text }) => invalidAttribute(pointer, text));
  const [first] = reasons;
  if (first === undefined) return;
  throw reasons.length === 1 ? first : new AggregateError(reasons, 'several fields are invalid');
};

const toErrorObject = (error: KeelsonError, requestId: string): Record<string, unknown> => {
  const status = error.httpStatus;
  const { pointer, parameter } = error.params;
  return {
    status: String(status),
    title: TITLES[status] ?? 'error',
    detail: error.code === 'internal' ? `internal error, request ${requestId}` : error.message,
    ...(pointer === undefined ? {} : { source: { pointer } }),
    ...(parameter === undefined ? {} : { source: { parameter } }),
  };
};

const toKeelsonErrors = (thrown: unknown): readonly [KeelsonError, ...KeelsonError[]] => {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) {
    const [first, ...rest] = thrown.errors.map((error) => KeelsonError.from(error));
    if (first !== undefined) return [first, ...rest];
  }
  return [KeelsonError.from(thrown)];
};

/** Headers that belong to a status (RFC 9110): §11.6.1 for 401, §15.5.6 for 405, §15.6.4 for 503. */
const toHeaders = (error: KeelsonError): Record<string, string> =>
  error.httpStatus === 401
    ? { 'www-authenticate': 'Bearer' }
    : { ...allowHeader(error), ...retryHeader(error) };

/**
 * Converts an error thrown by a handler to an error document.
 * @param onUnexpected called with errors that are bugs, including their cause, which clients never see
 */
export const createErrorRenderer =
  (onUnexpected: (error: unknown, requestId: string) => void) =>
  (thrown: unknown, request: EdgeRequest): EdgeResponse => {
    const errors = toKeelsonErrors(thrown);
    const requestId = request.head.requestId;
    if (errors.some((error) => error.code === 'internal')) onUnexpected(thrown, requestId);
    const document = { errors: errors.map((error) => toErrorObject(error, requestId)) };
    return edgeResponse(
      errors[0].httpStatus,
      { 'content-type': JSON_API_MEDIA_TYPE, ...toHeaders(errors[0]) },
      Buffer.from(JSON.stringify(document)),
    );
  };
