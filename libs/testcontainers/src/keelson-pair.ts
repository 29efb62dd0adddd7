/** A primary and a secondary that replicates from it, on a network of their own, for tests of fail-over and of reads elsewhere. */
import {
  GenericContainer,
  Network,
  type StartedNetwork,
  type StartedTestContainer,
} from 'testcontainers';
import { KeelsonContainer, type StartedKeelsonContainer } from './keelson-container.ts';
import { generateRoot, sys, until } from './requests.ts';
import { stopAll } from './stop-all.ts';

/** "performance": the secondary serves clients; "dr": it waits to be promoted. */
export type PairKind = 'performance' | 'dr';

export interface PairOptions {
  /** "performance" unless given. */
  readonly kind?: PairKind;
  /** Image of NATS, which carries the changes. */
  readonly natsImage?: string;
  /** Settings of both clusters. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface StartedKeelsonPair extends AsyncDisposable {
  readonly primary: StartedKeelsonContainer;
  /** Its own tokens ended with its first copy of the primary: see `secondaryToken`. */
  readonly secondary: StartedKeelsonContainer;
  /** Token of the root policy on the secondary: of its own for "performance", the primary's for "dr". */
  readonly secondaryToken: string;
  /** Key shares of the primary, which are the secondary's too, as an operation token needs them. */
  readonly unsealKeys: readonly string[];
  /** Resolves when the secondary has everything that the primary has answered. */
  caughtUp(): Promise<void>;
  stop(): Promise<void>;
}

const NATS_PORT = 4222;

export class KeelsonPair {
  readonly #image: string;
  readonly #options: PairOptions;

  /** @param image as built by `deploy/images/build.sh` */
  constructor(image: string, options: PairOptions = {}) {
    this.#image = image;
    this.#options = options;
  }

  async start(): Promise<StartedKeelsonPair> {
    const network = await new Network().start();
    const started: StartedTestContainer[] = [];
    const stop = () => stopAll(started, network);
    try {
      return await this.#connect(network, started, stop);
    } catch (error) {
      await stop();
      throw error;
    }
  }

  async #connect(
    network: StartedNetwork,
    started: StartedTestContainer[],
    stop: () => Promise<void>,
  ): Promise<StartedKeelsonPair> {
    const { kind = 'performance', natsImage = 'nats:2', environment = {} } = this.#options;
    started.push(
      await new GenericContainer(natsImage)
        .withCommand(['-js'])
        .withNetwork(network)
        .withNetworkAliases('nats')
        .start(),
    );
    const startCluster = async (alias: string): Promise<StartedKeelsonContainer> => {
      const cluster = await new KeelsonContainer(this.#image)
        .withEnvironment({ KEELSON_NATS_URL: `nats://nats:${NATS_PORT}`, ...environment })
        .withNetwork(network)
        .withNetworkAliases(alias)
        .start();
      started.push(cluster);
      return cluster;
    };
    const [primary, secondary] = [await startCluster('primary'), await startCluster('secondary')];

    const path = `replication/${kind}`;
    await sys(primary.httpUrl, primary.rootToken, 'POST', `${path}/primary/enable`, {});
    const { wrap_info } = await sys(
      primary.httpUrl,
      primary.rootToken,
      'POST',
      `${path}/primary/secondary-token`,
      { id: 'secondary' },
    );
    await sys(secondary.httpUrl, secondary.rootToken, 'POST', `${path}/secondary/enable`, {
      token: wrap_info.token,
      primary_api_addr: 'http://primary:8200',
    });
    const status = async (cluster: StartedKeelsonContainer) =>
      (await sys(cluster.httpUrl, '', 'GET', `${path}/status`)).data;
    await until(
      'the secondary follows the primary',
      () => status(secondary),
      ({ state, connection_state }) => state === 'stream-wals' && connection_state === 'ready',
    );
    const { unsealKeys } = primary;
    return {
      primary,
      secondary,
      secondaryToken:
        kind === 'dr' ? primary.rootToken : await generateRoot(secondary.httpUrl, unsealKeys),
      unsealKeys,
      caughtUp: async () => {
        await until(
          'the secondary has what the primary has',
          async () => [await status(primary), await status(secondary)],
          ([here, there]) => here.merkle_root === there.merkle_root,
        );
      },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  }
}
