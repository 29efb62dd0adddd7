import { setTimeout as delay } from 'node:timers/promises';
import { KeelsonError } from '@keelson/errors';
import {
  AuthorizationError,
  type NatsConnection,
  UserAuthenticationExpiredError,
} from '@nats-io/nats-core';
import { connect, type NodeConnectionOptions } from '@nats-io/transport-node';
import { StatusListeners } from './status-listeners.ts';

const RECONNECT_DELAY_MS = 100;
/** A server that refuses the credentials logs every attempt. */
const REFUSED_DELAY_MS = 2000;
/**
 * A server that hangs, and a network that drops packets, end no connection: two unanswered pings do. The client's own
 * interval is two minutes.
 */
const PING_INTERVAL_MS = 5000;
const MAX_PING_OUT = 2;
const CONNECT_WITHIN_MS = 5000;
const NOT_CONNECTED = 'there is no connection to NATS';
const REFUSED = 'NATS refuses the credentials';

const isRefusal = (error: unknown): boolean =>
  error instanceof AuthorizationError || error instanceof UserAuthenticationExpiredError;

/** A connection to NATS that is established and re-established by itself. */
export class NatsLink {
  readonly status = new StatusListeners('reconnecting');
  readonly #options: NodeConnectionOptions;
  readonly #closed = new AbortController();
  readonly #firstAttempt = Promise.withResolvers<void>();
  #connection: NatsConnection | undefined;
  #isRefused = false;
  readonly #running: Promise<void>;

  constructor(options: NodeConnectionOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Why there is no connection, in words for operators; undefined while there is one. */
  failure(): string | undefined {
    if (this.status.current === 'connected') return undefined;
    return this.#isRefused ? REFUSED : NOT_CONNECTED;
  }

  #unavailable(): KeelsonError {
    return new KeelsonError('bus.unavailable', { reason: this.failure() ?? NOT_CONNECTED });
  }

  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** @throws KeelsonError `bus.unavailable` while there is no connection */
  connection(): NatsConnection {
    if (this.#connection === undefined || this.status.current !== 'connected')
      throw this.#unavailable();
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
    const forget = this.status.add(() => reject(this.#unavailable()));
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
    this.#isRefused = false;
    this.status.set('connected');
    for await (const event of connection.status())
      if (event.type === 'disconnect') this.status.set('reconnecting');
      else if (event.type === 'error') this.#isRefused ||= isRefusal(event.error);
      else if (event.type === 'reconnect') {
        this.#isRefused = false;
        this.status.set('connected');
      }
  }

  #delayMs(): number {
    return this.#isRefused ? REFUSED_DELAY_MS : RECONNECT_DELAY_MS;
  }

  async #connect(): Promise<NatsConnection | undefined> {
    while (!this.#closed.signal.aborted)
      try {
        return await connect({
          reconnectDelayHandler: () => this.#delayMs(),
          timeout: CONNECT_WITHIN_MS,
          pingInterval: PING_INTERVAL_MS,
          maxPingOut: MAX_PING_OUT,
          // Credentials are read again for every attempt, so that replaced ones are used.
          ignoreAuthErrorAbort: true,
          ...this.#options,
          maxReconnectAttempts: -1,
        });
      } catch (error) {
        this.#isRefused = isRefusal(error);
        this.#firstAttempt.resolve();
        await delay(this.#delayMs(), undefined, { ref: false, signal: this.#closed.signal }).catch(
          () => undefined,
        );
      }
    return undefined;
  }
}
