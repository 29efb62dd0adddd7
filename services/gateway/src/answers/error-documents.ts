/** Each surface answers in its own document: JSON:API on /api/v2, plain text for EST, `{"errors":[…]}` everywhere else. */
import {
  allowHeader,
  bufferedBody,
  type EdgeRequest,
  type EdgeResponse,
  edgeResponse,
} from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { createErrorRenderer } from '@keelson/jsonapi';
import type { Logger } from '@keelson/logging';
import { createSecretsErrorRenderer } from '@keelson/secrets-api';
import { emptyHead } from '../request/request-head.ts';
import type { Surface } from '../request/surface.ts';

export type RenderError = (
  surface: Surface['name'],
  thrown: unknown,
  requestId: string,
) => EdgeResponse;

/** The part of a request that an error document needs. */
const refusedRequest = (requestId: string): EdgeRequest => ({
  head: emptyHead(requestId, ''),
  body: bufferedBody(new Uint8Array(0)),
  signal: AbortSignal.abort(),
});

/** RFC 7030 §4.2.3. */
const renderPlainText = (
  thrown: unknown,
  requestId: string,
  report: (err: unknown, requestId: string) => void,
): EdgeResponse => {
  const error = KeelsonError.from(thrown);
  if (error.code === 'internal') report(thrown, requestId);
  return edgeResponse(
    error.httpStatus,
    { 'content-type': 'text/plain; charset=utf-8', ...allowHeader(error) },
    Buffer.from(`${error.message}\n`),
  );
};

/** Errors raised by Fastify itself, as a KeelsonError. */
const asRefusal = (thrown: unknown): unknown => {
  if (!(thrown instanceof Error) || !('statusCode' in thrown)) return thrown;
  const isRefusal = Number(thrown.statusCode) >= 400 && Number(thrown.statusCode) < 500;
  return isRefusal
    ? new KeelsonError('request.invalid', { text: thrown.message }, { cause: thrown })
    : thrown;
};

/** Renders an error; an unexpected one is logged, and the client receives only the request id. */
export const createErrorDocuments = (logger: Logger): RenderError => {
  const report = (err: unknown, requestId: string): void =>
    logger.error({ err, request_id: requestId }, 'request failed unexpectedly');
  const renderJsonApi = createErrorRenderer(report);
  const renderSecrets = createSecretsErrorRenderer(report);
  return (surface, thrown, requestId) => {
    if (surface === 'est') return renderPlainText(thrown, requestId, report);
    const render = surface === 'api_v2' ? renderJsonApi : renderSecrets;
    return render(surface === 'own' ? asRefusal(thrown) : thrown, refusedRequest(requestId));
  };
};
