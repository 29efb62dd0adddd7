import { setTimeout as delay } from 'node:timers/promises';
import { KeelsonError } from '@keelson/errors';
import type { NatsConnection } from '@nats-io/nats-core';
import { connect, type NodeConnectionOptions } from '@nats-io/transport-node';
import { StatusListeners } from './status-listeners.ts';

const RECONNECT_DELAY_MS = 100;

/** A connection to NATS that is established and re-established by itself. */
export class NatsLink {
  readonly status = new StatusListeners('reconnecting');
  readonly #options: NodeConnectionOptions;
  readonly #closed = new AbortController();
  readonly #firstAttempt = Promise.withResolvers<void>();
  #connection: NatsConnection | undefined;
  readonly #running: Promise<void>;

  constructor(options: NodeConnectionOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** @throws KeelsonError `bus.unavailable` while there is no connection */
  connection(): NatsConnection {
    if (this.#connection === undefined || this.status.current !== 'connected')
      throw new KeelsonError('bus.unavailable');
    return this.#connection;
  }

  /** Waits until the first attempt to connect has ended, then like `connection`. */
  async firstConnection(): Promise<NatsConnection> {
    await this.#firstAttempt.promise;
    return this.connection();
  }

  /**
   * Waits until there is a connection.
   * @throws the reason of `signal`, `bus.unavailable` once closed
   */
  async untilConnected(signal: AbortSignal): Promise<NatsConnection> {
    await this.status.until(['connected', 'closed'], signal);
    signal.throwIfAborted();
    return this.connection();
  }

  /** Result of `work`, or `bus.unavailable` once the connection is lost, because no answer can follow. */
  async whileConnected<T>(work: Promise<T>): Promise<T> {
    const { promise: lost, reject } = Promise.withResolvers<never>();
    const forget = this.status.add(() => reject(new KeelsonError('bus.unavailable')));
    try {
      return await Promise.race([work, lost]);
    } finally {
      forget();
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.status.set('closed');
    await this.#connection?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    const connection = await this.#connect();
    this.#firstAttempt.resolve();
    if (connection === undefined) return;
    if (this.#closed.signal.aborted) return connection.close();
    this.#connection = connection;
    this.status.set('connected');
    for await (const { type } of connection.status())
      if (type === 'disconnect') this.status.set('reconnecting');
      else if (type === 'reconnect') this.status.set('connected');
  }

  async #connect(): Promise<NatsConnection | undefined> {
    while (!this.#closed.signal.aborted)
      try {
        return await connect({
          reconnectTimeWait: RECONNECT_DELAY_MS,
          ...this.#options,
          maxReconnectAttempts: -1,
        });
      } catch {
        this.#firstAttempt.resolve();
        await delay(RECONNECT_DELAY_MS, undefined, { ref: false });
      }
    return undefined;
  }
}
