/** Keeps one edge stream open to one replica: when it ends, it is reopened with back-off. */

import { Client, type ClientDuplexStream, Metadata, type MethodDefinition } from '@grpc/grpc-js';
import type { Clock } from '@keelson/clock';
import { type ClientFrames, EdgeDefinition, type ServerFrames } from '@keelson/proto/edge/v1/edge';
import {
  channelCredentials,
  clientChannelOptions,
  type TlsIdentity,
  type TrustedAuthority,
  toGrpcServiceDefinition,
} from '@keelson/rpc';
import { EdgeConnection } from './edge-connection.ts';

export interface ReplicaLinkOptions {
  /** gRPC target with one address. */
  readonly target: string;
  readonly service: string;
  readonly tls: TlsIdentity | TrustedAuthority | undefined;
  readonly clock: Clock;
  /** Called when a stream has opened, or accepts no more requests. */
  readonly onChange: () => void;
}

const FIRST_BACK_OFF_MS = 50;
const LONGEST_BACK_OFF_MS = 5_000;

const exchangeMethod = toGrpcServiceDefinition(EdgeDefinition)['exchange'] as MethodDefinition<
  ClientFrames,
  ServerFrames
>;

export class ReplicaLink {
  readonly #options: ReplicaLinkOptions;
  readonly #client: Client;
  /** The last one accepts requests; those before it are finishing. */
  readonly #connections = new Set<EdgeConnection>();
  readonly #closing = Promise.withResolvers<void>();
  #isClosing = false;
  readonly #stopped: Promise<void>;

  constructor(options: ReplicaLinkOptions) {
    this.#options = options;
    const { target, service, tls } = options;
    this.#client = new Client(target, channelCredentials(tls), {
      ...clientChannelOptions(service, tls),
      // Each link has its own connection. Otherwise several links to a replica would share a socket.
      'grpc.use_local_subchannel_pool': 1,
    });
    this.#stopped = this.#keepOpen();
  }

  get target(): string {
    return this.#options.target;
  }

  get connections(): ReadonlySet<EdgeConnection> {
    return this.#connections;
  }

  /** Opens no more streams, and resolves when all open calls have ended. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#closing.resolve();
    for (const connection of this.#connections) connection.retire();
    await this.#stopped;
    await Promise.all([...this.#connections].map((connection) => connection.closed));
    this.#client.close();
  }

  async #keepOpen(): Promise<void> {
    let failures = 0;
    while (!this.#isClosing) {
      const connection = this.#open();
      let hasOpened = false;
      void connection.opened.then(() => {
        hasOpened = true;
        this.#options.onChange();
      });
      await connection.retired;
      this.#options.onChange();
      failures = hasOpened ? 0 : failures + 1;
      if (!this.#isClosing) await this.#backOff(failures);
    }
  }

  #open(): EdgeConnection {
    const { service, clock } = this.#options;
    const stream: ClientDuplexStream<ClientFrames, ServerFrames> =
      this.#client.makeBidiStreamRequest(
        exchangeMethod.path,
        exchangeMethod.requestSerialize,
        exchangeMethod.responseDeserialize,
        // The channel reconnects with its own back-off; the stream starts afterwards.
        new Metadata({ waitForReady: true }),
      );
    const connection = new EdgeConnection({ stream, service, clock });
    this.#connections.add(connection);
    void connection.closed.then(() => this.#connections.delete(connection));
    return connection;
  }

  async #backOff(failures: number): Promise<void> {
    const delayMs = Math.min(FIRST_BACK_OFF_MS * 2 ** failures, LONGEST_BACK_OFF_MS);
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#options.clock.after(delayMs, resolve);
    await Promise.race([promise, this.#closing.promise]);
    cancel();
  }
}
