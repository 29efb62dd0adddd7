/** The client end of one edge stream. Other replicas are the concern of edge-pool.ts. */

import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { Clock } from '@keelson/clock';
import { guarded, KeelsonError } from '@keelson/errors';
import type {
  ClientFrame,
  ClientFrames,
  ResponseStart,
  ServerFrame,
  ServerFrames,
} from '@keelson/proto/edge/v1/edge';
import { fromWireError, injectTraceContext } from '@keelson/rpc';
import type { EdgeRequest, EdgeResponse } from '../edge-service.ts';
import { INLINE_BODY_BYTES, MAX_ID, MAX_IDS_PER_STREAM } from './edge-limits.ts';
import { FrameWriter } from './frame-writer.ts';
import { ReceivedBody, violation } from './received-body.ts';
import { SendWindow, sendBody } from './send-window.ts';

export interface EdgeConnectionOptions {
  readonly stream: ClientDuplexStream<ClientFrames, ServerFrames>;
  /** Name used in `edge.backend_unavailable`. */
  readonly service: string;
  readonly clock: Clock;
}

/** The stream ended during a request. */
export class StreamLost extends Error {
  override readonly name = 'StreamLost';
  /** Whether the replica may have received the request. */
  readonly wasSent: boolean;

  constructor(wasSent: boolean, options?: ErrorOptions) {
    super('the edge stream was lost', options);
    this.wasSent = wasSent;
  }
}

interface Limits {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** State of one open id. */
interface Exchange {
  readonly window: SendWindow;
  readonly resolve: (answer: EdgeResponse | Uint8Array) => void;
  readonly reject: (error: unknown) => void;
  /** Set after the head of the response until its body is complete. */
  body?: ReceivedBody;
  cancelDeadline?: () => void;
  stopListening?: () => void;
}

const NOTHING = Buffer.alloc(0);

export class EdgeConnection {
  readonly #options: EdgeConnectionOptions;
  readonly #writer: FrameWriter<ClientFrame>;
  readonly #exchanges = new Map<number, Exchange>();
  readonly #opened = Promise.withResolvers<void>();
  readonly #retired = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  /** Until then other replicas are preferred, because this one may not write to its store. */
  avoidedUntilMs = 0;
  #lastId = 0;
  #hasOpened = false;
  #isRetired = false;
  #isLost = false;

  constructor(options: EdgeConnectionOptions) {
    this.#options = options;
    const { stream } = options;
    this.#writer = new FrameWriter(stream, () => this.#exchanges.size <= 1);
    stream.on('metadata', () => {
      this.#hasOpened = true;
      this.#opened.resolve();
    });
    stream.on(
      'data',
      guarded('edge', (batch: ServerFrames) => this.#receive(batch)),
    );
    stream.on('error', (error) => this.#lose(error));
    stream.on(
      'end',
      guarded('edge', () => this.#lose(undefined)),
    );
  }

  /** Resolves when the stream reaches its replica; never settles otherwise. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  /** Resolves when no new ids may be opened: drained by the server, ids used up, or stream lost. */
  get retired(): Promise<void> {
    return this.#retired.promise;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  get state(): 'connecting' | 'ready' | 'draining' {
    if (this.#isRetired) return 'draining';
    return this.#hasOpened ? 'ready' : 'connecting';
  }

  get idsUnderWay(): number {
    return this.#exchanges.size;
  }

  get hasRoom(): boolean {
    return this.#exchanges.size < MAX_IDS_PER_STREAM;
  }

  /** Opens no more ids; the stream ends once the open ones have ended. */
  retire(): void {
    this.#isRetired = true;
    this.#retired.resolve();
    this.#endWhenDone();
  }

  /** @throws StreamLost when the stream ends before the head of the response */
  request(request: EdgeRequest, timeoutMs: number | undefined): Promise<EdgeResponse> {
    return this.#open({ signal: request.signal, timeoutMs }, (id, exchange) => {
      const { buffered } = request.body;
      const inline = buffered && buffered.byteLength <= INLINE_BODY_BYTES ? buffered : undefined;
      const body = inline
        ? Buffer.from(inline.buffer, inline.byteOffset, inline.byteLength)
        : NOTHING;
      const deadlineMs = timeoutMs ?? 0;
      const { head, tenant = '' } = request;
      const value = { head, deadlineMs, body, complete: inline !== undefined, tenant };
      this.#writer.send({ id, frame: { $case: 'start', value } }, body.byteLength);
      if (!value.complete) void this.#sendBody(id, exchange, request);
    }) as Promise<EdgeResponse>;
  }

  /** @throws StreamLost when the stream ends before the result */
  call(method: string, payload: Buffer, { signal, timeoutMs }: Limits): Promise<Uint8Array> {
    return this.#open({ signal, timeoutMs }, (id) => {
      const traceparent = injectTraceContext()['traceparent'] ?? '';
      const value = { method, payload, deadlineMs: timeoutMs ?? 0, traceparent };
      this.#writer.send({ id, frame: { $case: 'call', value } }, payload.byteLength);
    }) as Promise<Uint8Array>;
  }

  #open(
    { signal, timeoutMs }: Limits,
    send: (id: number, exchange: Exchange) => void,
  ): Promise<EdgeResponse | Uint8Array> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      if (id === MAX_ID) this.retire();
      const exchange: Exchange = { window: new SendWindow(), resolve, reject };
      this.#exchanges.set(id, exchange);
      const cancel = (): void =>
        this.#cancel(id, exchange, new KeelsonError('request.cancelled'), 'cancelled');
      signal?.addEventListener('abort', cancel, { once: true });
      exchange.stopListening = () => signal?.removeEventListener('abort', cancel);
      if (timeoutMs !== undefined) {
        exchange.cancelDeadline = this.#options.clock.after(timeoutMs, () =>
          this.#cancel(id, exchange, new KeelsonError('request.deadline_exceeded'), 'deadline'),
        );
      }
      send(id, exchange);
    });
  }

  async #sendBody(id: number, exchange: Exchange, { body }: EdgeRequest): Promise<void> {
    try {
      await sendBody({
        chunks: body.buffered ? [body.buffered] : body.chunks(),
        window: exchange.window,
        ready: () => this.#writer.ready(),
        send: (chunk) =>
          this.#writer.send({ id, frame: { $case: 'chunk', value: chunk } }, chunk.body.byteLength),
      });
    } catch (error) {
      // The gateway's client disconnected, or sent more than the limit.
      this.#cancel(id, exchange, error, 'body failed');
    }
  }

  #receive(batch: ServerFrames): void {
    try {
      for (const frame of batch.frames) this.#dispatch(frame);
    } catch (error) {
      this.#options.stream.cancel();
      this.#lose(error);
    }
  }

  #dispatch({ id, frame }: ServerFrame): void {
    if (frame === undefined) throw violation('every frame has a content');
    if (frame.$case === 'drain') {
      this.retire();
      return;
    }
    const exchange = this.#exchanges.get(id);
    if (exchange === undefined) return; // Cancelled on this side while the response was in transit.
    switch (frame.$case) {
      case 'start':
        this.#startResponse(id, exchange, frame.value);
        break;
      case 'chunk':
        if (exchange.body === undefined) throw violation('a body begins with its head');
        exchange.body.push(frame.value.body, frame.value.complete);
        if (frame.value.complete) this.#end(id, exchange);
        break;
      case 'window':
        exchange.window.grant(frame.value.bytes);
        break;
      case 'callResult':
        exchange.resolve(frame.value);
        this.#end(id, exchange);
        break;
      case 'failure':
        this.#fail(id, exchange, fromWireError(frame.value.code, frame.value.detailsJson));
        break;
    }
  }

  #startResponse(id: number, exchange: Exchange, { head, body, complete }: ResponseStart): void {
    if (head === undefined) throw violation('a response has a head');
    if (exchange.body) throw violation('a response has one head');
    exchange.cancelDeadline?.();
    if (complete) {
      exchange.resolve({ head, body });
      this.#end(id, exchange);
      return;
    }
    const received = new ReceivedBody({
      grant: (bytes) => this.#writer.send({ id, frame: { $case: 'window', value: { bytes } } }),
      abandoned: () =>
        this.#cancel(id, exchange, new KeelsonError('request.cancelled'), 'reader left'),
    });
    received.push(body, false);
    exchange.body = received;
    exchange.resolve({ head, body: { [Symbol.asyncIterator]: () => received.chunks() } });
  }

  #cancel(id: number, exchange: Exchange, error: unknown, reason: string): void {
    if (this.#exchanges.get(id) !== exchange) return;
    this.#writer.send({ id, frame: { $case: 'cancel', value: { reason } } });
    this.#fail(id, exchange, error);
  }

  #fail(id: number, exchange: Exchange, error: unknown): void {
    exchange.reject(error);
    exchange.body?.fail(KeelsonError.from(error));
    this.#end(id, exchange);
  }

  #end(id: number, exchange: Exchange): void {
    exchange.cancelDeadline?.();
    exchange.stopListening?.();
    exchange.window.close();
    this.#exchanges.delete(id);
    this.#endWhenDone();
  }

  #endWhenDone(): void {
    if (!this.#isRetired || this.#isLost || this.#exchanges.size > 0) return;
    this.#writer.flush();
    this.#writer.close();
    if (this.#hasOpened) this.#options.stream.end();
    else this.#options.stream.cancel();
  }

  #lose(cause: unknown): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#isRetired = true;
    const unsent = new Set(
      this.#writer
        .close()
        .filter(({ frame }) => frame?.$case === 'start' || frame?.$case === 'call')
        .map(({ id }) => id),
    );
    for (const [id, exchange] of this.#exchanges) {
      exchange.reject(new StreamLost(!unsent.has(id), { cause }));
      const { service } = this.#options;
      exchange.body?.fail(new KeelsonError('edge.backend_unavailable', { service }, { cause }));
      this.#end(id, exchange);
    }
    this.#retired.resolve();
    this.#closed.resolve();
  }
}
