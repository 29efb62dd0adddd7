/**
 * A service with its own store as a process: PostgreSQL for records, Redis for leases, NATS for replication,
 * gRPC for other processes, probes for orchestrators. A service describes only what it composes from them.
 */
import { type Clock, systemClock } from '@keelson/clock';
import type { Config, ConfigSchema, Environment } from '@keelson/config';
import type { LeaseStore } from '@keelson/locks';
import { RedisLeaseStore, toRedisConnection } from '@keelson/locks/redis';
import type { Logger } from '@keelson/logging';
import {
  createRegistry,
  Gauge,
  type MetricsRegistry,
  registerStoreMetrics,
} from '@keelson/metrics';
import { ClusterDefinition } from '@keelson/proto/sys/v1/cluster';
import {
  createRpcClient,
  createRpcServer,
  enrolIdentityFromFiles,
  type GrpcRegistration,
  type RenewedIdentity,
  type RpcClient,
  type RpcDefinition,
  type RpcService,
  type ServiceName,
} from '@keelson/rpc';
import {
  type electingSettings,
  type enrolledSettings,
  runConfiguredProcess,
  type Stoppable,
  type servingSettings,
  startProbes,
  type storeSettings,
  VERSION,
} from '@keelson/runtime';
import { type Barrier, createBarrier, type Projection, type Store } from '@keelson/storage';
import { openPostgresStore } from '@keelson/storage/postgres';
import { type NatsSettings, type NatsTransport, openNatsTransport } from './nats-transport.ts';
import { followingOpenReplica } from './open-replica.ts';

/** Settings that the configuration of every such process includes. */
type ServiceSettings = Config<typeof servingSettings> &
  Config<typeof storeSettings> &
  Config<typeof electingSettings> &
  NatsSettings;

/** The parts of a process that a service is composed from. */
export interface ServiceResources<C, I extends RenewedIdentity = RenewedIdentity> {
  readonly config: C;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: MetricsRegistry;
  readonly store: Store;
  readonly barrier: Barrier;
  readonly leases: LeaseStore;
  readonly transport: NatsTransport;
  readonly kept: I;
  /** Logs an unexpected error of an RPC. */
  readonly report: (error: unknown, method?: string) => void;
  /** A client of another service; it is closed when the process stops. */
  readonly connect: <D extends RpcDefinition>(
    definition: D,
    service: ServiceName,
    addresses: readonly string[],
  ) => RpcClient<D>;
  /** The state of the cluster, from a replica of sys that is open. */
  readonly connectCluster: (addresses: readonly string[]) => RpcService<typeof ClusterDefinition>;
}

export interface ComposedService {
  /** Resolves once the service has followed the cluster's state for the first time, or has failed to. */
  readonly joined?: Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface ServiceProcess<S extends ConfigSchema, I extends RenewedIdentity> {
  /** The process is named "keelson-" and this. */
  readonly service: ServiceName;
  /** Includes the settings of `ServiceSettings`. */
  readonly schema: S;
  /** `process.env`: main files are its only readers. */
  readonly environment: Environment;
  readonly projections?: readonly Projection[];
  readonly openIdentity: (config: Config<S>, clock: Clock, logger: Logger) => Promise<I>;
  /** The service, and what it serves over gRPC. */
  readonly compose: (
    resources: ServiceResources<Config<S>, I>,
  ) => Promise<{ service: ComposedService; registrations: readonly GrpcRegistration[] }>;
}

/** `openIdentity` of a service whose certificates sys issues. */
export const enrolledAs =
  (service: ServiceName) =>
  (
    config: Config<typeof enrolledSettings>,
    clock: Clock,
    logger: Logger,
  ): Promise<RenewedIdentity> =>
    enrolIdentityFromFiles({
      ...config,
      service,
      clock,
      report: (err) => logger.warn({ err }, 'no internal certificate, asking sys again'),
    });

const startService = async <S extends ConfigSchema, I extends RenewedIdentity>(
  { service: name, projections = [], openIdentity, compose }: ServiceProcess<S, I>,
  config: Config<S>,
  logger: Logger,
): Promise<Stoppable> => {
  // TypeScript cannot infer that S includes these.
  const settings = config as unknown as ServiceSettings;
  const clock = systemClock;
  const kept = await openIdentity(config, clock, logger);
  const tls = kept.identity;
  const barrier = createBarrier();
  const store = await openPostgresStore({
    connectionString: settings.databaseUrl,
    authorityFile: settings.databaseAuthorityFile,
    barrier,
    clock,
    projections,
    cacheBytes: settings.storeCacheBytes,
  });
  const registry = createRegistry(VERSION);
  registerStoreMetrics(registry, { [name]: store });
  const leases = new RedisLeaseStore({
    connection: toRedisConnection(settings),
    clock,
    onReachable: (isReachable) => {
      if (isReachable) logger.info('Redis is reachable: background work goes on');
      else logger.warn('Redis cannot be reached: background work waits for it');
    },
  });
  new Gauge({
    name: 'keelson_leases_reachable',
    help: '1 while Redis, which elects workers, can be reached.',
    registers: [registry],
    collect() {
      this.set(Number(leases.isReachable));
    },
  });
  const transport = await openNatsTransport(settings);
  const clients: { close(): void }[] = [];
  const connect: ServiceResources<Config<S>, I>['connect'] = (definition, target, address) => {
    const client = createRpcClient(definition, { address, service: target, tls });
    clients.push(client);
    return client;
  };
  const { service, registrations } = await compose({
    config,
    clock,
    logger,
    registry,
    store,
    barrier,
    leases,
    transport,
    kept,
    report: (err, method) => logger.error({ err, method }, 'failed'),
    connect,
    connectCluster: (addresses) =>
      followingOpenReplica(connect(ClusterDefinition, 'sys', addresses), clock),
  });
  await service.start();
  // Otherwise the first requests would be refused as sealed, although the cluster is open.
  await service.joined;
  const server = await createRpcServer({
    address: settings.rpcAddress,
    tls,
    services: registrations,
  });
  const probes = await startProbes(settings.probeAddress, {
    askNeighbours: () => store.requireUsable(),
    metrics: registry,
  });
  logger.info({ port: server.port }, 'serving');
  return {
    stop: async () => {
      await probes.close();
      await server.stop();
      await service.stop();
      for (const client of clients) client.close();
      await transport.close();
      kept.stop();
      await leases.close();
      await store.close();
    },
  };
};

/** Runs the service until a signal; see `runConfiguredProcess`. */
export const runServiceProcess = <S extends ConfigSchema, I extends RenewedIdentity>(
  described: ServiceProcess<S, I>,
): Promise<void> =>
  runConfiguredProcess({
    name: `keelson-${described.service}`,
    schema: described.schema,
    environment: described.environment,
    start: (config, logger) => startService(described, config, logger),
  });
