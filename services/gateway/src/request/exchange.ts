/** The context of one request, which every plugin and hook of the gateway shares. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EdgeBody, EdgeRequest } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { RequestHead } from '@keelson/proto/edge/v1/edge';
import type { BodyBudget, BodyHolding } from '../limits/body-budget.ts';
import { clientNetwork } from '../limits/client-network.ts';
import { RETRY_AFTER_SECONDS } from '../limits/retry-after.ts';
import { connectionOf } from './connection.ts';
import { emptyHead } from './request-head.ts';
import type { Surface } from './surface.ts';

export interface ExchangeOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly surface: Surface;
  readonly timeoutMs: number;
  /** Time that a client has to read an answer, after `timeoutMs`. */
  readonly sendingMs: number;
  /** Headers that every answer to this client carries. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A GET that a live stream repeats until its answer has changed. */
export interface RepeatedGet {
  /** Largest answer that is read. */
  readonly limitBytes: number;
  /** Whether the client gets this answer. */
  readonly isSent: (status: number, body: Uint8Array) => boolean;
}

/** The part of an exchange that is passed to a service; the signal is created on first use. */
class ServiceRequest implements EdgeRequest {
  readonly head: RequestHead;
  readonly body: EdgeBody;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange, head: RequestHead, body: EdgeBody) {
    this.head = head;
    this.body = body;
    this.#exchange = exchange;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  get timeoutMs(): number {
    return this.#exchange.timeoutMs;
  }

  get tenant(): string {
    return this.#exchange.tenant;
  }
}

/** Facts for the log line of a request, as far as they have been determined. */
export interface ExchangeAccount {
  readonly mount?: string | undefined;
  readonly organization?: string | undefined;
  readonly caller?: string | undefined;
  readonly route?: string | undefined;
  readonly bytes?: number | undefined;
}

/** One request and its response. Ends when the client disconnects or the time limit is reached. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly requestId: string;
  readonly surface: Surface;
  /** Headers of the response, whether from a service or the error handler. */
  readonly answerHeaders: Record<string, string>;
  /** Ids, dialect, path, mount, caller and principal, as far as they have been determined. */
  head: RequestHead;
  /** Label of the metrics: "api_v2", "v1/pki". */
  group: string;
  /** Token of a surface that does not use the /v1 headers. */
  token: string | undefined;
  account: ExchangeAccount = {};
  /** The owner of the share that the request uses (`limits/shares.ts`), once the caller is known. */
  tenant = '';
  /** JSON for the audit entry, describing a body that only the service can parse. */
  auditedRequest = '';
  /** Set while a live stream asks: only answers that the client gets are recorded by audit devices. */
  repeated: RepeatedGet | undefined;
  readonly #response: ServerResponse;
  /** The part of the body budget that this request holds until it is answered. */
  #holding: BodyHolding | undefined;
  #timeoutMs: number;
  readonly #sendingMs: number;
  #timer: NodeJS.Timeout;
  #ended: KeelsonError | undefined;
  #onEnd: ((error: KeelsonError) => void) | undefined;
  readonly #onClose: (() => void)[] = [];
  #abort: AbortController | undefined;

  constructor(options: ExchangeOptions) {
    const { request, response, requestId, surface, timeoutMs, headers } = options;
    this.request = request;
    this.requestId = requestId;
    this.surface = surface;
    this.group = surface.name;
    this.answerHeaders = { ...headers, ...surface.headers, 'x-request-id': requestId };
    this.head = emptyHead(requestId, request.method ?? '');
    this.#response = response;
    this.#timeoutMs = timeoutMs;
    this.#sendingMs = options.sendingMs;
    this.#timer = this.#startTimer(timeoutMs);
    response.on('close', () => this.#close());
  }

  /** Calls `listener` once the response has been sent or the client has disconnected. */
  whenClosed(listener: () => void): void {
    this.#onClose.push(listener);
  }

  /** The refusal of a request over a rate limit; `headers` state the limit. */
  rateLimited(headers: Readonly<Record<string, string>>): KeelsonError {
    Object.assign(this.answerHeaders, headers, { 'retry-after': RETRY_AFTER_SECONDS });
    return new KeelsonError('request.rate_limited');
  }

  /** Counts the bytes of the body in `budget` until the request is answered. */
  holdBody(budget: BodyBudget, isAnonymous: boolean): BodyHolding {
    const address = clientNetwork(this.head.remoteAddress);
    const opened = this.#refusable(() =>
      budget.open(address, isAnonymous ? connectionOf(this.request) : undefined),
    );
    this.#holding = opened;
    if (this.#ended !== undefined) opened.release();
    return { ...opened, take: (bytes) => this.#refusable(() => opened.take(bytes)) };
  }

  /** A refusal of `take` gives everything back and tells the client when to try again. */
  #refusable<T>(take: () => T): T {
    try {
      return take();
    } catch (refused) {
      this.#holding?.release();
      this.answerHeaders['retry-after'] = RETRY_AFTER_SECONDS;
      throw refused;
    }
  }

  /** Current time limit of the whole request. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** Replaces the time limit, counted from now: uploads, downloads, event streams. */
  limitTo(timeoutMs: number): void {
    clearTimeout(this.#timer);
    this.#timeoutMs = timeoutMs;
    this.#timer = this.#startTimer(timeoutMs);
  }

  #startTimer(timeoutMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#expire(), timeoutMs);
  }

  /** Ends work on the answer; a client that has the beginning of it may read it more slowly. */
  #expire(): void {
    this.#end('request.deadline_exceeded');
    if (this.#response.headersSent)
      this.#timer = setTimeout(() => this.#response.destroy(this.#ended), this.#sendingMs);
  }

  /** Aborted when the exchange ends before its answer. Created on first use, as most calls need none. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#ended !== undefined) this.#abort.abort(this.#ended);
    }
    return this.#abort.signal;
  }

  /** The request in the form passed to the service that answers it. */
  toService(head: RequestHead, body: EdgeBody): EdgeRequest {
    return new ServiceRequest(this, head, body);
  }

  /** The result of `work`, unless the exchange ends first. @throws KeelsonError with the reason */
  untilEnd<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      work.then(resolve, reject);
      this.#onEnd = reject;
      if (this.#ended !== undefined) reject(this.#ended);
    });
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#holding?.release();
    const { writableEnded, writableFinished } = this.#response;
    // A stream of HTTP/2 that its client has reset is finished, although nothing ended the answer.
    if (!writableEnded || !writableFinished) this.#end('request.cancelled');
    for (const listener of this.#onClose) listener();
  }

  #end(code: 'request.deadline_exceeded' | 'request.cancelled'): void {
    if (this.#ended !== undefined) return;
    this.#ended = new KeelsonError(code);
    this.#onEnd?.(this.#ended);
    this.#abort?.abort(this.#ended);
  }
}
