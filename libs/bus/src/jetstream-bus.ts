/**
 * The bus over NATS: JetStream streams (file storage) and core request/reply. It connects and reconnects by
 * itself. A stream is consumed by position; each (re)connection checks that position against the server's, so
 * that messages lost by a server are noticed.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { KeelsonError } from '@keelson/errors';
import { callInSpan } from '@keelson/logging/spans';
import { fromWireError, injectTraceContext, serveInTrace, toWireError } from '@keelson/rpc/wire';
import {
  type ConsumerMessages,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import {
  headers as createHeaders,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  nanos,
  errors as natsErrors,
} from '@nats-io/nats-core';
import type { NodeConnectionOptions } from '@nats-io/transport-node';
import type {
  Bus,
  BusStatus,
  PublishOptions,
  StreamMessage,
  StreamOptions,
  StreamTail,
} from './message-bus.ts';
import { type NatsCredentials, toAuthenticator } from './nats-credentials.ts';
import { NatsLink } from './nats-link.ts';
import { requireStreamName, toJetStreamName } from './stream-name.ts';
import { requirePosition } from './stream-position.ts';

export type { NatsCredentials } from './nats-credentials.ts';

export interface JetStreamBusOptions {
  /** "nats://host:port", one or more of a cluster; "tls://" for TLS. */
  readonly servers: string | readonly string[];
  /** Without credentials, the server is asked for none. */
  readonly credentials?: NatsCredentials | undefined;
  /** TLS material, as the NATS client takes it. */
  readonly connection?: Omit<NodeConnectionOptions, 'servers' | 'maxReconnectAttempts'>;
  /** Copies of each stream in a NATS cluster. */
  readonly replicas?: number;
}

const DEDUPLICATION_WINDOW_MS = 120_000;
const PUBLISH_TIMEOUT_MS = 5000;
/**
 * Maximum number of messages fetched ahead of the consumer. There is no limit in bytes, because pulls of
 * nats.js 3.4 with `max_bytes` stall when messages of changing sizes do not fill them.
 */
const PREFETCH_MESSAGES = 64;
/** Interval between attempts while a server is reachable but not ready. */
const RETRY_DELAY_MS = 100;
const STREAM_NOT_FOUND = 10_059;
const WRONG_LAST_SEQUENCE = 10_071;
const QUEUE = 'keelson';
const MESSAGE_ID_HEADER = 'Nats-Msg-Id';
const ERROR_HEADER = 'Keelson-Error';
const ERROR_PARAMS_HEADER = 'Keelson-Error-Params';

const toNatsHeaders = (record: Readonly<Record<string, string>>): MsgHdrs => {
  const result = createHeaders();
  for (const [name, value] of Object.entries(record)) result.set(name, value);
  return result;
};

const fromNatsHeaders = (given: MsgHdrs | undefined): Record<string, string> =>
  Object.fromEntries(
    (given?.keys() ?? [])
      .filter((name) => name !== MESSAGE_ID_HEADER)
      .map((name) => [name, given?.get(name) ?? '']),
  );

const toStreamMessage = (
  streamSequence: number,
  given: MsgHdrs | undefined,
  payload: Uint8Array,
): StreamMessage => ({
  streamSequence,
  messageId: given?.get(MESSAGE_ID_HEADER) ?? '',
  headers: fromNatsHeaders(given),
  payload,
});

const isStreamMissing = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND;

/**
 * Turns a failure of the server or the connection into `bus.unavailable`; Keelson's own errors pass
 * unchanged.
 */
const asUnavailable = (error: unknown): KeelsonError =>
  error instanceof KeelsonError
    ? error
    : new KeelsonError(
        'bus.unavailable',
        { reason: error instanceof Error ? error.message : String(error) },
        { cause: error },
      );

const isNoResponder = (error: unknown): boolean =>
  error instanceof natsErrors.NoRespondersError ||
  (error instanceof natsErrors.RequestError && error.isNoResponders());

export class JetStreamBus implements Bus {
  readonly #link: NatsLink;
  readonly #replicas: number;

  constructor({ servers, credentials, connection, replicas }: JetStreamBusOptions) {
    this.#replicas = replicas ?? 1;
    this.#link = new NatsLink({
      ...connection,
      ...(credentials !== undefined && { authenticator: toAuthenticator(credentials) }),
      servers: typeof servers === 'string' ? servers : [...servers],
    });
  }

  async ensureStream({ stream, maxBytes, maxAgeMs }: StreamOptions): Promise<void> {
    requireStreamName(stream);
    const name = toJetStreamName(stream);
    const maxAge = maxAgeMs ?? 0;
    const config = {
      subjects: [stream],
      max_bytes: maxBytes ?? -1,
      max_age: nanos(maxAge),
      duplicate_window: nanos(
        maxAge === 0 ? DEDUPLICATION_WINDOW_MS : Math.min(maxAge, DEDUPLICATION_WINDOW_MS),
      ),
      num_replicas: this.#replicas,
    };
    try {
      const { streams } = await jetstreamManager(await this.#link.firstConnection());
      try {
        await streams.update(name, config);
      } catch (error) {
        if (!isStreamMissing(error)) throw error;
        await streams.add({
          name,
          ...config,
          storage: StorageType.File,
          retention: RetentionPolicy.Limits,
          discard: DiscardPolicy.Old,
        });
      }
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  async publish(stream: string, payload: Uint8Array, options: PublishOptions): Promise<number> {
    requireStreamName(stream);
    const connection = await this.#link.firstConnection();
    requireSize(connection, payload);
    const { expectedLastSequence } = options;
    try {
      const acknowledged = await this.#link.whileConnected(
        callInSpan('nats publish', NATS, () =>
          jetstream(connection).publish(stream, payload, {
            msgID: options.messageId,
            headers: toNatsHeaders({ ...options.headers, ...injectTraceContext() }),
            timeout: PUBLISH_TIMEOUT_MS,
            ...(expectedLastSequence !== undefined && {
              expect: { lastSequence: expectedLastSequence },
            }),
          }),
        ),
      );
      return acknowledged.seq;
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === WRONG_LAST_SEQUENCE)
        throw new KeelsonError(
          'bus.stream_moved',
          { stream, sequence: expectedLastSequence ?? 0 },
          { cause: error },
        );
      // No stream consumes the subject, which the client reports as JetStream being disabled.
      throw isNoResponder(error) || (error instanceof Error && isNoResponder(error.cause))
        ? new KeelsonError('bus.stream_not_found', { stream }, { cause: error })
        : asUnavailable(error);
    }
  }

  async tail(stream: string): Promise<StreamTail> {
    requireStreamName(stream);
    const connection = await this.#link.firstConnection();
    const name = toJetStreamName(stream);
    try {
      const { streams } = await jetstreamManager(connection, { checkAPI: false });
      // The end is read first: if the stream grows in between, the message is newer and its sequence is used.
      const { state } = await this.#link.whileConnected(streams.info(name));
      const newest = await this.#link.whileConnected(
        streams.getMessage(name, { last_by_subj: stream }),
      );
      if (newest === null) return { lastSequence: state.last_seq, message: undefined };
      return {
        lastSequence: newest.seq,
        message: toStreamMessage(newest.seq, newest.header, newest.data),
      };
    } catch (error) {
      throw isStreamMissing(error)
        ? new KeelsonError('bus.stream_not_found', { stream }, { cause: error })
        : asUnavailable(error);
    }
  }

  async *consume(
    stream: string,
    streamSequence: number,
    signal: AbortSignal,
  ): AsyncIterable<StreamMessage> {
    requireStreamName(stream);
    const stop = AbortSignal.any([signal, this.#link.closed]);
    let position = streamSequence;
    while (!stop.aborted) {
      for await (const message of this.#consumeUntilDisconnected(stream, position, stop)) {
        position = message.streamSequence;
        yield message;
      }
    }
    if (!signal.aborted) throw new KeelsonError('bus.unavailable', { reason: 'it is closed' });
  }

  /** Ends when `stop` aborts, when the connection is lost, and when the server cannot be queried. */
  async *#consumeUntilDisconnected(
    stream: string,
    after: number,
    stop: AbortSignal,
  ): AsyncIterable<StreamMessage> {
    await this.#link.status.until(['connected', 'closed'], stop);
    if (stop.aborted) return;
    const opening = this.#openConsumer(stream, after);
    const messages = await this.#link.whileConnected(opening).catch(async (error: unknown) => {
      // A consumer that opens later has no reader, so it is closed.
      opening.then((late) => late.close()).catch(() => undefined);
      if (error instanceof KeelsonError && error.code !== 'bus.unavailable') throw error;
      // The server is stopping, or has restarted without JetStream yet; no event reports either, so retry.
      await delay(RETRY_DELAY_MS, undefined, { ref: false });
      return undefined;
    });
    if (messages === undefined) return;
    const end = (): void => void messages.close();
    const forget = this.#link.status.add(end);
    stop.addEventListener('abort', end);
    if (stop.aborted || this.#link.status.current !== 'connected') end();
    try {
      let position = after;
      for await (const message of messages) {
        if (stop.aborted) return;
        if (message.seq !== position + 1)
          requirePosition(stream, position, {
            firstSequence: message.seq,
            lastSequence: message.seq,
          });
        position = message.seq;
        yield toStreamMessage(message.seq, message.headers, message.data);
      }
    } finally {
      forget();
      stop.removeEventListener('abort', end);
      end();
    }
  }

  async #openConsumer(stream: string, after: number): Promise<ConsumerMessages> {
    const connection = this.#link.connection();
    const name = toJetStreamName(stream);
    const manager = await jetstreamManager(connection, { checkAPI: false });
    const { state } = await manager.streams.info(name).catch((error: unknown) => {
      throw isStreamMissing(error) ? new KeelsonError('bus.stream_not_found', { stream }) : error;
    });
    requirePosition(stream, after, {
      // An empty stream reports 0, or the next sequence, as its first.
      firstSequence: Math.max(state.first_seq, state.messages === 0 ? state.last_seq + 1 : 1),
      lastSequence: state.last_seq,
    });
    const consumer = await jetstream(connection).consumers.get(name, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: after + 1,
    });
    return consumer.consume({ max_messages: PREFETCH_MESSAGES });
  }

  async request(
    subject: string,
    payload: Uint8Array,
    { timeoutMs }: { readonly timeoutMs: number },
  ): Promise<Uint8Array> {
    const connection = await this.#link.firstConnection();
    requireSize(connection, payload);
    let answer: Msg;
    try {
      answer = await this.#link.whileConnected(
        callInSpan('nats request', NATS, () =>
          connection.request(subject, payload, {
            timeout: timeoutMs,
            headers: toNatsHeaders(injectTraceContext()),
          }),
        ),
      );
    } catch (error) {
      if (isNoResponder(error))
        throw new KeelsonError('bus.no_responder', { subject }, { cause: error });
      if (error instanceof natsErrors.TimeoutError)
        throw new KeelsonError('bus.timeout', { subject, timeoutMs }, { cause: error });
      throw asUnavailable(error);
    }
    const code = answer.headers?.get(ERROR_HEADER) ?? '';
    if (code !== '') throw fromWireError(code, answer.headers?.get(ERROR_PARAMS_HEADER) ?? '');
    return answer.data;
  }

  async respond(
    subject: string,
    handler: (payload: Uint8Array) => Promise<Uint8Array>,
    signal: AbortSignal,
  ): Promise<void> {
    const connection = await this.#link.untilConnected(signal);
    const subscription = connection.subscribe(subject, {
      queue: QUEUE,
      callback: (error, message) => {
        if (error === null) void answer(message, subject, handler);
      },
    });
    signal.addEventListener('abort', () => subscription.unsubscribe(), { once: true });
    await connection.flush().catch((error: unknown) => {
      throw asUnavailable(error);
    });
  }

  failure(): string | undefined {
    return this.#link.failure();
  }

  status(): BusStatus {
    return this.#link.status.current;
  }

  onStatus(listener: (status: BusStatus) => void): () => void {
    return this.#link.status.add(listener);
  }

  close(): Promise<void> {
    return this.#link.close();
  }
}

const NATS = { 'messaging.system': 'nats' };

const requireSize = (connection: NatsConnection, payload: Uint8Array): void => {
  const limitBytes = connection.info?.max_payload;
  if (limitBytes !== undefined && payload.length > limitBytes)
    throw new KeelsonError('request.too_large', { limitBytes });
};

/** Never rejects, because a failure is sent as an answer too. */
const answer = async (
  message: Msg,
  subject: string,
  handler: (payload: Uint8Array) => Promise<Uint8Array>,
): Promise<void> => {
  try {
    const payload = await serveInTrace(fromNatsHeaders(message.headers), subject, () =>
      handler(message.data),
    );
    message.respond(payload);
  } catch (error) {
    const { code, detailsJson } = toWireError(error);
    const errorHeaders = { [ERROR_HEADER]: code, [ERROR_PARAMS_HEADER]: detailsJson };
    message.respond(undefined, { headers: toNatsHeaders(errorHeaders) });
  }
};
