/**
 * Messages between clusters: durable streams that are consumed from a sequence, and request/reply.
 * JetStream (`JetStreamBus`) or in-process.
 */
export interface StreamOptions {
  /** Stream name: "wal.<cluster>.<service>" with dots as in subjects; letters, digits, dots, hyphens. */
  readonly stream: string;
  readonly maxBytes?: number;
  readonly maxAgeMs?: number;
}

export interface StreamMessage {
  /** Position in the stream, gapless from 1 unless messages were pruned. */
  readonly streamSequence: number;
  /** Id passed to `publish`; equal ids within the deduplication window are stored once. */
  readonly messageId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Uint8Array;
}

export interface PublishOptions {
  readonly messageId: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The message is stored only directly after this stream sequence, which excludes a second publisher;
   * otherwise `bus.stream_moved`.
   */
  readonly expectedLastSequence?: number;
}

/** End of a stream. */
export interface StreamTail {
  /** 0 when nothing was ever published. */
  readonly lastSequence: number;
  /** The newest message; undefined when the stream is empty. */
  readonly message: StreamMessage | undefined;
}

export interface Bus {
  /** Creates the stream or updates its limits. @throws KeelsonError `bus.unavailable` */
  ensureStream(options: StreamOptions): Promise<void>;
  /**
   * Resolves with the stream sequence once the message is stored.
   * @throws KeelsonError `bus.unavailable`, `bus.stream_not_found`, `bus.stream_moved`,
   *   `request.too_large`
   */
  publish(stream: string, payload: Uint8Array, options: PublishOptions): Promise<number>;
  /** @throws KeelsonError `bus.unavailable`, `bus.stream_not_found` */
  tail(stream: string): Promise<StreamTail>;
  /**
   * Yields the messages after `streamSequence` and then new ones, across reconnections, until `signal`
   * aborts. None is skipped: if the stream no longer has the next message, it throws.
   * @throws KeelsonError `bus.stream_not_found`; `bus.messages_pruned` when the next message was deleted;
   * `bus.position_ahead` when the stream lost messages that had been consumed
   */
  consume(
    stream: string,
    streamSequence: number,
    signal: AbortSignal,
  ): AsyncIterable<StreamMessage>;
  /**
   * Sends a request to one of the processes that serve `subject`, and returns its answer.
   * @throws KeelsonError `bus.no_responder`, `bus.timeout`, `bus.unavailable`, `request.too_large`, and any
   * KeelsonError that the handler threw (`internal` for other errors)
   */
  request(
    subject: string,
    payload: Uint8Array,
    options: { readonly timeoutMs: number },
  ): Promise<Uint8Array>;
  /**
   * Serves `subject`, together with others that serve it, until `signal` aborts. Resolves once requests
   * arrive here; waits for a connection if there is none.
   */
  respond(
    subject: string,
    handler: (payload: Uint8Array) => Promise<Uint8Array>,
    signal: AbortSignal,
  ): Promise<void>;
  status(): BusStatus;
  /** Why there is no connection, in words for operators; undefined while there is one. */
  failure(): string | undefined;
  /** Calls `listener` on each change; the returned function unsubscribes it. */
  onStatus(listener: (status: BusStatus) => void): () => void;
  close(): Promise<void>;
}

export type BusStatus = 'connected' | 'reconnecting' | 'closed';
