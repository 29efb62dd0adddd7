/**
 * The server end of one edge stream: reads frames, runs handlers, writes frames. Whatever a peer sends, the
 * worst result is the end of its stream with `edge.protocol_violation`.
 */

import { Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import type { Clock } from '@keelson/clock';
import { guarded, KeelsonError } from '@keelson/errors';
import { answerSpan } from '@keelson/logging/spans';
import type {
  Call,
  Chunk,
  ClientFrame,
  ClientFrames,
  RequestStart,
  ResponseHead,
  ServerFrame,
  ServerFrames,
} from '@keelson/proto/edge/v1/edge';
import { type ReportBug, serveInTrace, toGrpcStatus, toWireError } from '@keelson/rpc';
import { trace } from '@opentelemetry/api';
import { bufferedBody } from '../edge-body.ts';
import type { EdgeRequest, EdgeResponse, EdgeService } from '../edge-service.ts';
import { type CallHandler, unknownMethod } from './call-dispatcher.ts';
import {
  INLINE_BODY_BYTES,
  MAX_HEAD_BYTES,
  MAX_IDS_PER_STREAM,
  requestHeadSize,
} from './edge-limits.ts';
import { FrameWriter } from './frame-writer.ts';
import { ReceivedBody, violation } from './received-body.ts';
import type { RequestTurns } from './request-turns.ts';
import { SendWindow, sendBody } from './send-window.ts';

export interface ServerStreamOptions {
  readonly stream: ServerDuplexStream<ClientFrames, ServerFrames>;
  readonly service: EdgeService;
  readonly calls: ReadonlyMap<string, CallHandler>;
  readonly clock: Clock;
  readonly report: ReportBug;
  readonly peer: string | undefined;
  /** Common to all streams of the server. */
  readonly turns: RequestTurns;
}

/**
 * Announces the length of a body in several pieces, if it is known. For a body in one piece, Node
 * adds the header.
 */
const withLength = (head: ResponseHead, bytes: number): ResponseHead =>
  head.headers.some(({ name }) => name === 'content-length')
    ? head
    : { ...head, headers: [...head.headers, { name: 'content-length', value: String(bytes) }] };

/** State of one open id. */
interface Exchange {
  readonly controller: AbortController;
  readonly window: SendWindow;
  body?: ReceivedBody;
  tenant?: string;
  cancelDeadline?: () => void;
}

const answeredInSpan = async (
  service: EdgeService,
  request: EdgeRequest,
): Promise<EdgeResponse> => {
  const response = await service.handle(request);
  const span = trace.getActiveSpan();
  if (span !== undefined) answerSpan(span, response.head.status);
  return response;
};

const NOTHING = Buffer.alloc(0);

export class ServerStream {
  readonly #options: ServerStreamOptions;
  readonly #writer: FrameWriter<ServerFrame>;
  readonly #exchanges = new Map<number, Exchange>();
  readonly #finished = Promise.withResolvers<void>();
  #lastId = 0;
  #clientIsDone = false;

  constructor(options: ServerStreamOptions) {
    this.#options = options;
    const { stream } = options;
    this.#writer = new FrameWriter(stream, () => this.#exchanges.size <= 1);
    // The client regards the stream as open once these headers arrive.
    stream.sendMetadata(new Metadata());
    stream.on(
      'data',
      guarded('edge', (batch: ClientFrames) => this.#receive(batch)),
    );
    stream.on(
      'end',
      guarded('edge', () => {
        this.#clientIsDone = true;
        this.#endWhenDone();
      }),
    );
    stream.on('cancelled', () => this.#abandon(new KeelsonError('request.cancelled')));
    stream.on('error', () => this.#abandon(new KeelsonError('request.cancelled')));
  }

  /** Resolves when the stream has ended, for whatever reason. */
  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  /**
   * Asks the client to open no more ids. Open ids, and those opened before the client reads this frame,
   * finish.
   */
  drain(): Promise<void> {
    this.#writer.send({ id: 0, frame: { $case: 'drain', value: {} } });
    return this.finished;
  }

  #receive(batch: ClientFrames): void {
    try {
      for (const frame of batch.frames) this.#dispatch(frame);
    } catch (error) {
      this.#abandon(new KeelsonError('request.cancelled'));
      this.#options.stream.emit('error', toGrpcStatus(error));
    }
  }

  #dispatch({ id, frame }: ClientFrame): void {
    if (frame === undefined) throw violation('every frame has a content');
    if (frame.$case === 'start' || frame.$case === 'call') {
      if (id <= this.#lastId) throw violation('ids grow');
      this.#lastId = id;
      const exchange: Exchange = { controller: new AbortController(), window: new SendWindow() };
      if (this.#exchanges.size >= MAX_IDS_PER_STREAM) {
        this.#sendFailure(id, new KeelsonError('edge.overloaded', { service: 'called' }));
        return;
      }
      this.#exchanges.set(id, exchange);
      if (frame.$case === 'start') this.#start(id, exchange, frame.value);
      else void this.#call(id, exchange, frame.value);
      return;
    }
    if (id > this.#lastId) throw violation('an id begins with a request or call');
    const exchange = this.#exchanges.get(id);
    if (exchange === undefined) return; // The id ended on this side while this frame was in transit.
    switch (frame.$case) {
      case 'chunk':
        this.#chunk(exchange, frame.value);
        break;
      case 'window':
        exchange.window.grant(frame.value.bytes);
        break;
      case 'cancel':
        exchange.controller.abort(new KeelsonError('request.cancelled'));
        this.#end(id, exchange);
        break;
    }
  }

  #chunk(exchange: Exchange, chunk: Chunk): void {
    if (exchange.body === undefined) throw violation('no chunk after the last one');
    exchange.body.push(chunk.body, chunk.complete);
  }

  #limitTime(id: number, exchange: Exchange, deadlineMs: number): void {
    if (deadlineMs === 0) return;
    exchange.cancelDeadline = this.#options.clock.after(deadlineMs, () => {
      const error = new KeelsonError('request.deadline_exceeded');
      exchange.controller.abort(error);
      this.#fail(id, exchange, error);
    });
  }

  #start(id: number, exchange: Exchange, start: RequestStart): void {
    const { head } = start;
    if (head === undefined) throw violation('a request has a head');
    if (requestHeadSize(head) > MAX_HEAD_BYTES) {
      const limit = { limitBytes: MAX_HEAD_BYTES };
      this.#fail(id, exchange, new KeelsonError('request.head_too_large', limit));
      return;
    }
    this.#limitTime(id, exchange, start.deadlineMs);
    if (!start.complete) {
      exchange.body = new ReceivedBody({
        grant: (bytes) => this.#writer.send({ id, frame: { $case: 'window', value: { bytes } } }),
      });
      exchange.body.push(start.body, false);
    }
    const request: EdgeRequest = {
      head,
      body: exchange.body ?? bufferedBody(start.body),
      signal: exchange.controller.signal,
      ...(start.deadlineMs > 0 && { timeoutMs: start.deadlineMs }),
    };
    exchange.tenant = start.tenant;
    this.#options.turns.begin(start.tenant, () => {
      if (!exchange.controller.signal.aborted) void this.#serve(id, exchange, request);
    });
  }

  async #serve(id: number, exchange: Exchange, request: EdgeRequest): Promise<void> {
    const { service } = this.#options;
    const { method, path, traceparent } = request.head;
    try {
      const response =
        traceparent === ''
          ? await service.handle(request)
          : await serveInTrace({ traceparent }, `edge ${method}`, () =>
              answeredInSpan(service, request),
            );
      exchange.cancelDeadline?.();
      await this.#respond(id, exchange, response);
    } catch (error) {
      this.#refuse(id, exchange, error, `${method} ${path}`);
    }
  }

  async #respond(id: number, exchange: Exchange, { head, body }: EdgeResponse): Promise<void> {
    const { turns } = this.#options;
    if (exchange.window.isClosed) return;
    if (body instanceof Uint8Array && body.byteLength <= INLINE_BODY_BYTES) {
      const value = { head, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) };
      this.#writer.send(
        { id, frame: { $case: 'start', value: { ...value, complete: true } } },
        body.byteLength,
      );
    } else {
      const announced = body instanceof Uint8Array ? withLength(head, body.byteLength) : head;
      const value = { head: announced, body: NOTHING, complete: false };
      this.#writer.send({ id, frame: { $case: 'start', value } });
      await sendBody({
        chunks: body instanceof Uint8Array ? [body] : turns.pieces(exchange.tenant ?? '', body),
        window: exchange.window,
        ready: () => this.#writer.ready(),
        send: (chunk) =>
          this.#writer.send({ id, frame: { $case: 'chunk', value: chunk } }, chunk.body.byteLength),
      });
    }
    this.#end(id, exchange);
  }

  async #call(id: number, exchange: Exchange, call: Call): Promise<void> {
    const { calls, peer } = this.#options;
    const { method, payload, deadlineMs, traceparent } = call;
    this.#limitTime(id, exchange, deadlineMs);
    const options = {
      signal: exchange.controller.signal,
      ...(deadlineMs > 0 && { timeoutMs: deadlineMs }),
      ...(peer !== undefined && { peer }),
    };
    try {
      const handler = calls.get(method);
      if (handler === undefined) throw unknownMethod(method);
      const result = await (traceparent === ''
        ? handler(payload, options)
        : serveInTrace({ traceparent }, method, () => handler(payload, options)));
      if (exchange.window.isClosed) return;
      this.#writer.send({ id, frame: { $case: 'callResult', value: result } }, result.byteLength);
      this.#end(id, exchange);
    } catch (error) {
      this.#refuse(id, exchange, error, method);
    }
  }

  #refuse(id: number, exchange: Exchange, error: unknown, method: string): void {
    if (exchange.window.isClosed) return; // The request was cancelled, so that nobody reads the handler's response.
    if (!(error instanceof KeelsonError)) this.#options.report(error, method);
    this.#fail(id, exchange, error);
  }

  #fail(id: number, exchange: Exchange, error: unknown): void {
    this.#sendFailure(id, error);
    this.#end(id, exchange);
  }

  #sendFailure(id: number, error: unknown): void {
    this.#writer.send({ id, frame: { $case: 'failure', value: toWireError(error) } });
  }

  #end(id: number, exchange: Exchange): void {
    exchange.cancelDeadline?.();
    exchange.window.close();
    exchange.body?.fail(new KeelsonError('request.cancelled'));
    this.#exchanges.delete(id);
    this.#endWhenDone();
  }

  #endWhenDone(): void {
    if (!this.#clientIsDone || this.#exchanges.size > 0) return;
    this.#writer.flush();
    this.#writer.close();
    this.#options.stream.end();
    this.#finished.resolve();
  }

  #abandon(error: KeelsonError): void {
    this.#writer.close();
    for (const [id, exchange] of this.#exchanges) {
      exchange.controller.abort(error);
      this.#end(id, exchange);
    }
    this.#finished.resolve();
  }
}
