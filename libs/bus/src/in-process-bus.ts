import { type Clock, systemClock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import { fromWireError, injectTraceContext, serveInTrace, toWireError } from '@keelson/rpc/wire';
import { InProcessStream } from './in-process-stream.ts';
import type {
  Bus,
  BusStatus,
  PublishOptions,
  StreamMessage,
  StreamOptions,
  StreamTail,
} from './message-bus.ts';
import { StatusListeners } from './status-listeners.ts';
import { requireStreamName } from './stream-name.ts';

type Handler = (payload: Uint8Array) => Promise<Uint8Array>;

/** The bus within one process. Its streams live as long as the process. */
export class InProcessBus implements Bus {
  readonly #clock: Clock;
  readonly #streams = new Map<string, InProcessStream>();
  readonly #handlers = new Map<string, Handler[]>();
  readonly #status = new StatusListeners('connected');
  readonly #closed = new AbortController();

  constructor(options: { readonly clock?: Clock } = {}) {
    this.#clock = options.clock ?? systemClock;
  }

  async ensureStream(options: StreamOptions): Promise<void> {
    this.#requireOpen();
    requireStreamName(options.stream);
    const existing = this.#streams.get(options.stream);
    if (existing === undefined)
      this.#streams.set(options.stream, new InProcessStream(options, this.#clock));
    else existing.limit(options);
  }

  async publish(stream: string, payload: Uint8Array, options: PublishOptions): Promise<number> {
    const headers = { ...options.headers, ...injectTraceContext() };
    return this.#requireStream(stream).append(payload, { ...options, headers });
  }

  async tail(stream: string): Promise<StreamTail> {
    return this.#requireStream(stream).tail();
  }

  async *consume(
    stream: string,
    streamSequence: number,
    signal: AbortSignal,
  ): AsyncIterable<StreamMessage> {
    const stop = AbortSignal.any([signal, this.#closed.signal]);
    yield* this.#requireStream(stream).follow(streamSequence, stop);
    if (!signal.aborted) this.#requireOpen();
  }

  async request(
    subject: string,
    payload: Uint8Array,
    { timeoutMs }: { readonly timeoutMs: number },
  ): Promise<Uint8Array> {
    this.#requireOpen();
    const handlers = this.#handlers.get(subject);
    const handler = handlers?.shift();
    if (handlers === undefined || handler === undefined)
      throw new KeelsonError('bus.no_responder', { subject });
    handlers.push(handler); // Handlers of a subject take turns.
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const cancel = this.#clock.after(timeoutMs, () =>
      reject(new KeelsonError('bus.timeout', { subject, timeoutMs })),
    );
    try {
      return await Promise.race([
        serveInTrace(injectTraceContext(), subject, () => handler(payload)),
        timeout,
      ]);
    } catch (error) {
      // The same errors as over the network: codes are passed on, causes are not.
      const { code, detailsJson } = toWireError(error);
      throw fromWireError(code, detailsJson);
    } finally {
      cancel();
    }
  }

  async respond(subject: string, handler: Handler, signal: AbortSignal): Promise<void> {
    this.#requireOpen();
    if (signal.aborted) return;
    const handlers = this.#handlers.get(subject) ?? [];
    this.#handlers.set(subject, handlers);
    handlers.push(handler);
    signal.addEventListener('abort', () => handlers.splice(handlers.indexOf(handler), 1), {
      once: true,
    });
  }

  failure(): string | undefined {
    return this.status() === 'connected' ? undefined : 'it is closed';
  }

  status(): BusStatus {
    return this.#status.current;
  }

  onStatus(listener: (status: BusStatus) => void): () => void {
    return this.#status.add(listener);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#status.set('closed');
  }

  #requireStream(stream: string): InProcessStream {
    this.#requireOpen();
    const found = this.#streams.get(stream);
    if (found === undefined) throw new KeelsonError('bus.stream_not_found', { stream });
    return found;
  }

  #requireOpen(): void {
    if (this.#closed.signal.aborted)
      throw new KeelsonError('bus.unavailable', { reason: 'it is closed' });
  }
}
