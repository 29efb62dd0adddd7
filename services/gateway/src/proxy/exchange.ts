/** One request of a client and its answer, whatever the surface. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { EdgeResponse } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { RequestHead } from '@keelson/proto/edge/v1/edge';
import type { BodyBudget, BodyHolding } from '../limits/body-budget.ts';
import { clientNetwork } from '../limits/client-network.ts';
import { emptyHead, requestIdOf } from './request-head.ts';

/** Seconds that a client is asked to wait after a request over the limit. */
const RETRY_AFTER_SECONDS = '1';

/** Ends when the client leaves or the time is over, whatever else is under way. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly requestId: string;
  /** Headers that every answer of this exchange carries. */
  readonly answerHeaders: Record<string, string>;
  head: RequestHead;
  /** For metrics: "api_v2", "v1/pki". */
  group = 'own';
  /** Where a surface carries the token in its own way, in place of the headers of /v1. */
  token: string | undefined;
  /** What the service says of a body that nobody else can read, for the audit entry; JSON. */
  auditedRequest = '';
  /** The share of the body budget, held while the body is under way. */
  #holding: BodyHolding | undefined;
  #timeoutMs: number;
  #timer: NodeJS.Timeout;
  #ended: KeelsonError | undefined;
  #onEnd: ((error: KeelsonError) => void) | undefined;
  #abort: AbortController | undefined;

  /**
   * @param method may be LIST
   * @param headers of every answer
   */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    method: string,
    timeoutMs: number,
    headers: Readonly<Record<string, string>>,
  ) {
    this.request = request;
    this.#timeoutMs = timeoutMs;
    this.requestId = requestIdOf(request);
    this.answerHeaders = { ...headers, 'x-request-id': this.requestId };
    this.head = emptyHead(this.requestId, method);
    this.#timer = this.#startTimer(timeoutMs);
    response.on('close', () => {
      clearTimeout(this.#timer);
      this.#holding?.release();
      if (!response.writableFinished) this.#end('request.cancelled');
    });
  }

  /** The refusal of a request that was one too many, with the headers that say so. */
  rateLimited(headers: Readonly<Record<string, string>>): KeelsonError {
    Object.assign(this.answerHeaders, headers, { 'retry-after': RETRY_AFTER_SECONDS });
    return new KeelsonError('request.rate_limited');
  }

  /** Counts the bytes of the body in `budget` until the answer is given. */
  holdBody(budget: BodyBudget, isAnonymous: boolean): BodyHolding {
    const opened = budget.open(clientNetwork(this.head.remoteAddress), isAnonymous);
    this.#holding = opened;
    if (this.#ended !== undefined) opened.release();
    return {
      ...opened,
      take: (bytes) => {
        try {
          opened.take(bytes);
        } catch (refused) {
          opened.release();
          this.answerHeaders['retry-after'] = RETRY_AFTER_SECONDS;
          throw refused;
        }
      },
    };
  }

  /** How long it may take. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** Another limit than that of all requests, from now on. */
  limitTo(timeoutMs: number): void {
    clearTimeout(this.#timer);
    this.#timeoutMs = timeoutMs;
    this.#timer = this.#startTimer(timeoutMs);
  }

  #startTimer(timeoutMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#end('request.deadline_exceeded'), timeoutMs);
  }

  /** Aborted when the exchange ends before its answer. Made when asked for: most answers need none. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#ended !== undefined) this.#abort.abort(this.#ended);
    }
    return this.#abort.signal;
  }

  /** What `work` gives, unless the exchange ends before it. @throws KeelsonError why it ended */
  untilEnd<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      work.then(resolve, reject);
      this.#onEnd = reject;
      if (this.#ended !== undefined) reject(this.#ended);
    });
  }

  #end(code: 'request.deadline_exceeded' | 'request.cancelled'): void {
    if (this.#ended !== undefined) return;
    this.#ended = new KeelsonError(code);
    this.#onEnd?.(this.#ended);
    this.#abort?.abort(this.#ended);
  }
}

/**
 * Text goes to the kernel in one piece with the head, bytes as a vector of two, which costs more than
 * all else of a small answer. Latin-1 keeps every byte as it is.
 */
const ONE_WRITE_BYTES = 8_192;
const toLatin1 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1');

/** RFC 9112 §6.3: these have no content, and no length is announced. */
const hasNoContent = (status: number): boolean => status === 204 || status === 304 || status < 200;

/**
 * Writes the answer; a body that breaks off breaks the connection off, so that nobody takes it as whole.
 * @returns undefined when all of it is written already
 */
export const writeAnswer = (
  response: ServerResponse,
  { head, body }: EdgeResponse,
  headers: Readonly<Record<string, string>>,
): Promise<void> | undefined => {
  if (response.destroyed) return undefined;
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
    return undefined;
  }
  response.writeHead(head.status, lines);
  return pipeline(Readable.from(body, { objectMode: false }), response);
};
