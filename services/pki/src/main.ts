/** Starts the certificate authority as its own process: gRPC for gateway and sys, PostgreSQL, Redis. */
import { systemClock } from '@keelson/clock';
import { openNatsTransport } from '@keelson/cluster-member';
import type { Config } from '@keelson/config';
import { createEdgeServer } from '@keelson/edge/stream';
import { RedisLeaseStore } from '@keelson/locks/redis';
import type { Logger } from '@keelson/logging';
import { createRegistry, registerStoreMetrics } from '@keelson/metrics';
import { EngineDefinition } from '@keelson/proto/engine/v1/engine';
import { EnrolmentDefinition } from '@keelson/proto/pki/v1/enrolment';
import { ClusterDefinition, LeasesDefinition } from '@keelson/proto/sys/v1/cluster';
import {
  ReplicationMemberDefinition,
  ReplicationSetsDefinition,
} from '@keelson/proto/sys/v1/replication';
import {
  createRpcClient,
  createRpcServer,
  enrolIdentityFromFiles,
  implementService,
} from '@keelson/rpc';
import { runConfiguredProcess, startProbes, VERSION } from '@keelson/runtime';
import { createBarrier } from '@keelson/storage';
import { openPostgresStore } from '@keelson/storage/postgres';
import { composePki, PKI_PROJECTIONS } from './compose.ts';
import { pkiProcessConfig } from './config.ts';

const start = async (config: Config<typeof pkiProcessConfig>, logger: Logger) => {
  const clock = systemClock;
  const report = (error: unknown, method?: string) =>
    logger.error({ err: error, method }, 'failed');
  const kept = await enrolIdentityFromFiles({
    ...config,
    service: 'pki',
    clock,
    report: (err) => logger.warn({ err }, 'no internal certificate, asking sys again'),
  });
  const tls = kept.identity;
  const barrier = createBarrier();
  const store = await openPostgresStore({
    connectionString: config.databaseUrl,
    barrier,
    clock,
    projections: PKI_PROJECTIONS,
    cacheBytes: config.storeCacheBytes,
  });
  const registry = createRegistry(VERSION);
  registerStoreMetrics(registry, { pki: store });
  const leases = new RedisLeaseStore({ connection: { url: config.redisUrl }, clock });
  const sys = { address: config.sysAddresses, service: 'sys', tls } as const;
  const cluster = createRpcClient(ClusterDefinition, sys);
  const ledger = createRpcClient(LeasesDefinition, sys);
  const sets = createRpcClient(ReplicationSetsDefinition, sys);
  const transport = await openNatsTransport(config);
  const pki = composePki({
    registry,
    hasReplicas: true,
    config,
    store,
    barrier,
    leases,
    clock,
    logger,
    cluster,
    ledger,
    replication: { transport, sets },
  });
  await pki.start();
  const server = await createRpcServer({
    address: config.rpcAddress,
    tls,
    services: [
      createEdgeServer(pki.edge, [[EnrolmentDefinition, pki.enrolment]], { report, clock }),
      implementService(EngineDefinition, pki.engine, { report }),
      implementService(ReplicationMemberDefinition, pki.replica, { report }),
    ],
  });
  const probes = await startProbes(config.probeAddress, {
    askNeighbours: () => store.position(),
    metrics: registry,
  });
  logger.info({ port: server.port }, 'serving');
  return {
    stop: async () => {
      await probes.close();
      await server.stop();
      await pki.stop();
      ledger.close();
      sets.close();
      await transport.close();
      cluster.close();
      kept.stop();
      await leases.close();
      await store.close();
    },
  };
};

await runConfiguredProcess({
  name: 'keelson-pki',
  schema: pkiProcessConfig,
  environment: process.env,
  start,
});
