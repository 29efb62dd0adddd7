/** The distributed form: gateway, sys, pki, workspace and auth in containers of their own, with PostgreSQL, Redis and NATS. */
import { randomBytes } from 'node:crypto';
import {
  GenericContainer,
  getContainerRuntimeClient,
  Network,
  type StartedNetwork,
  type StartedTestContainer,
  Wait,
} from 'testcontainers';
import { sys, until } from './requests.ts';
import { stopAll } from './stop-all.ts';

export interface ClusterOptions {
  readonly postgresImage?: string;
  readonly redisImage?: string;
  readonly natsImage?: string;
  /** Settings of every service. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface StartedKeelsonCluster extends AsyncDisposable {
  /** "http://localhost:49153" of the gateway, without a path. */
  readonly httpUrl: string;
  /** Token of the root policy, for `/v1`. */
  readonly rootToken: string;
  /** Token of an administrator who may create organizations, for `/api/v2`. */
  readonly apiToken: string;
  /** Shares that a ceremony needs. */
  readonly recoveryKeys: readonly string[];
  /** The container of a service, to stop and start it. */
  readonly services: Readonly<Record<ServiceName, StartedTestContainer>>;
  stop(): Promise<void>;
}

/** Each has a database of its own, as in deploy/databases. */
const STORE_SERVICES = ['sys', 'pki', 'workspace', 'auth'] as const;
export type ServiceName = (typeof STORE_SERVICES)[number] | 'gateway';

const HTTP_PORT = 8200;
const PROBE_PORT = 9001;
const PASSWORD = 'keelson';
const DATABASES = STORE_SERVICES.map((service) => `CREATE DATABASE ${service};`).join(' ');
const RECOVERY = { recovery_shares: 5, recovery_threshold: 3 };

export class KeelsonCluster {
  readonly #image: string;
  readonly #options: ClusterOptions;

  /** @param image as built by `deploy/images/build.sh` */
  constructor(image: string, options: ClusterOptions = {}) {
    this.#image = image;
    this.#options = options;
  }

  async start(): Promise<StartedKeelsonCluster> {
    const network = await new Network().start();
    const started: StartedTestContainer[] = [];
    const volume = `keelson-trust-${randomBytes(6).toString('hex')}`;
    const stop = async (): Promise<void> => {
      await stopAll(started, network);
      const { container } = await getContainerRuntimeClient();
      await container.dockerode.getVolume(volume).remove();
    };
    try {
      return await this.#assemble(network, started, volume, stop);
    } catch (error) {
      await stop().catch(() => undefined);
      throw error;
    }
  }

  async #assemble(
    network: StartedNetwork,
    started: StartedTestContainer[],
    volume: string,
    stop: () => Promise<void>,
  ): Promise<StartedKeelsonCluster> {
    await Promise.all(
      this.#neighbours(network).map(async (one) => started.push(await one.start())),
    );
    const keelson = (): GenericContainer =>
      new GenericContainer(this.#image)
        .withNetwork(network)
        // The internal CA, and the token with which each service joins.
        .withBindMounts([{ source: volume, target: '/trust' }]);
    const issuer = await keelson()
      .withCommand(['libs/rpc/src/internal-issuer/main.ts', '/trust'])
      .withWaitStrategy(Wait.forOneShotStartup())
      .start();
    started.push(issuer);

    const apiToken = randomBytes(24).toString('hex');
    const service = async (
      name: ServiceName,
      environment: Readonly<Record<string, string>>,
    ): Promise<StartedTestContainer> => {
      const port = name === 'gateway' ? HTTP_PORT : PROBE_PORT;
      const container = await keelson()
        .withCommand([`services/${name}/src/main.ts`])
        .withNetworkAliases(name)
        .withEnvironment({ ...environment, ...this.#options.environment })
        .withExposedPorts(port)
        .withWaitStrategy(Wait.forHttp('/healthz', port).forStatusCode(200))
        .start();
      started.push(container);
      return container;
    };
    const joins = (name: ServiceName) => ({
      KEELSON_INTERNAL_CA_FILE: `/trust/${name}/internal-ca-certificate.pem`,
      KEELSON_JOIN_TOKEN_FILE: `/trust/${name}/join-token`,
    });
    const keeps = (name: ServiceName) => ({
      KEELSON_PROBE_ADDRESS: `0.0.0.0:${PROBE_PORT}`,
      KEELSON_DATABASE_URL: `postgres://postgres:${PASSWORD}@postgres/${name}`,
      KEELSON_REDIS_URL: 'redis://redis:6379',
      KEELSON_NATS_URL: 'nats://nats:4222',
    });
    const first = await service('sys', {
      ...keeps('sys'),
      KEELSON_INTERNAL_CA_FILE: '/trust/sys/internal-ca.pem',
      KEELSON_UNSEAL_KEY_FILE: '/trust/sys/unseal.key',
    });
    const [pki, workspace, auth, gateway] = await Promise.all([
      service('pki', { ...keeps('pki'), ...joins('pki') }),
      service('workspace', {
        ...keeps('workspace'),
        ...joins('workspace'),
        KEELSON_WORKSPACE_BOOTSTRAP_TOKEN: apiToken,
      }),
      service('auth', { ...keeps('auth'), ...joins('auth') }),
      service('gateway', { ...joins('gateway'), KEELSON_LISTEN_ADDRESS: '0.0.0.0' }),
    ]);

    const httpUrl = `http://${gateway.getHost()}:${gateway.getMappedPort(HTTP_PORT)}`;
    const { root_token, recovery_keys } = await until(
      'the cluster is initialized',
      () => sys(httpUrl, '', 'PUT', 'init', RECOVERY),
      () => true,
    );
    await until(
      'all services are ready',
      async () => (await fetch(`${httpUrl}/readyz`)).status,
      (status) => status === 200,
    );
    return {
      httpUrl,
      rootToken: root_token,
      apiToken,
      recoveryKeys: recovery_keys,
      services: { sys: first, pki, workspace, auth, gateway },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  }

  #neighbours(network: StartedNetwork): readonly GenericContainer[] {
    const {
      postgresImage = 'postgres:17',
      redisImage = 'redis:8',
      natsImage = 'nats:2',
    } = this.#options;
    return [
      new GenericContainer(postgresImage)
        .withEnvironment({ POSTGRES_PASSWORD: PASSWORD })
        .withCopyContentToContainer([
          { content: DATABASES, target: '/docker-entrypoint-initdb.d/databases.sql' },
        ])
        // The server that makes the databases before is not reached by TCP.
        .withWaitStrategy(Wait.forSuccessfulCommand('pg_isready -q -h 127.0.0.1 -U postgres'))
        .withNetworkAliases('postgres'),
      new GenericContainer(redisImage).withCommand(['redis-server']).withNetworkAliases('redis'),
      new GenericContainer(natsImage).withCommand(['-js']).withNetworkAliases('nats'),
    ].map((container) => container.withNetwork(network));
  }
}
