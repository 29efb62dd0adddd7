/** One request of a client and its answer, whatever the surface. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { EdgeResponse } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { RequestHead } from '@keelson/proto/edge/v1/edge';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly head: RequestHead;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Headers that every answer of this exchange carries. */
  readonly answerHeaders: Record<string, string>;
  /** For metrics: "api_v2", "v1/pki". */
  group: string;
}

/** Aborted when the client leaves or the time is over. */
export const openExchange = (
  request: IncomingMessage,
  response: ServerResponse,
  head: RequestHead,
  timeoutMs: number,
): Exchange & { readonly expired: Promise<never> } => {
  const abort = new AbortController();
  const expired = Promise.withResolvers<never>();
  // Nobody may be waiting any more.
  expired.promise.catch(() => undefined);
  const stop = (code: 'request.deadline_exceeded' | 'request.cancelled'): void => {
    const error = new KeelsonError(code);
    expired.reject(error);
    abort.abort(error);
  };
  const timer = setTimeout(() => stop('request.deadline_exceeded'), timeoutMs);
  response.once('close', () => {
    clearTimeout(timer);
    if (!response.writableFinished) stop('request.cancelled');
  });
  return {
    request,
    head,
    signal: abort.signal,
    timeoutMs,
    answerHeaders: { 'x-request-id': head.requestId },
    group: 'own',
    expired: expired.promise,
  };
};

/**
 * Text goes to the kernel in one piece with the head, bytes as a vector of two, which costs more than
 * all else of a small answer. Latin-1 keeps every byte as it is.
 */
const ONE_WRITE_BYTES = 8_192;
const toLatin1 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1');

/** RFC 9112 §6.3: these have no content, and no length is announced. */
const hasNoContent = (status: number): boolean => status === 204 || status === 304 || status < 200;

/** Writes the answer; a body that breaks off breaks the connection off, so that nobody takes it as whole. */
export const writeAnswer = async (
  response: ServerResponse,
  { head, body }: EdgeResponse,
  headers: Readonly<Record<string, string>>,
): Promise<void> => {
  if (response.destroyed) return;
  const lines: string[] = [];
  for (const name in headers) lines.push(name, headers[name] ?? '');
  let hasLength = false;
  for (const { name, value } of head.headers) {
    if (name === 'content-length') hasLength = true;
    if (!(name in headers)) lines.push(name, value);
  }
  if (body instanceof Uint8Array) {
    if (!hasLength && !hasNoContent(head.status))
      lines.push('content-length', String(body.byteLength));
    response.writeHead(head.status, lines);
    if (body.byteLength > ONE_WRITE_BYTES) response.end(body);
    else response.end(toLatin1(body), 'latin1');
    return;
  }
  response.writeHead(head.status, lines);
  await pipeline(Readable.from(body, { objectMode: false }), response);
};
