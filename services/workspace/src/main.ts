/**
 * Starts the workspace service as its own process: gRPC for the gateway, PostgreSQL for its
 * records.
 */
import { systemClock } from '@keelson/clock';
import { openNatsTransport } from '@keelson/cluster-member';
import type { Config } from '@keelson/config';
import { createEdgeServer } from '@keelson/edge/stream';
import { RedisLeaseStore } from '@keelson/locks/redis';
import type { Logger } from '@keelson/logging';
import { createRegistry, registerStoreMetrics } from '@keelson/metrics';
import { ClusterDefinition } from '@keelson/proto/sys/v1/cluster';
import {
  ReplicationMemberDefinition,
  ReplicationSetsDefinition,
} from '@keelson/proto/sys/v1/replication';
import { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import {
  createRpcClient,
  createRpcServer,
  enrolIdentityFromFiles,
  implementService,
} from '@keelson/rpc';
import { runConfiguredProcess, startProbes, VERSION } from '@keelson/runtime';
import { createBarrier } from '@keelson/storage';
import { openPostgresStore } from '@keelson/storage/postgres';
import { composeWorkspace, WORKSPACE_PROJECTIONS } from './compose.ts';
import { workspaceProcessConfig } from './config.ts';
import { withTokensOfFiles } from './identity/tokens/token-files.ts';

const start = async (given: Config<typeof workspaceProcessConfig>, logger: Logger) => {
  const config = await withTokensOfFiles(given);
  const clock = systemClock;
  const report = (error: unknown, method?: string) =>
    logger.error({ err: error, method }, 'failed');
  const kept = await enrolIdentityFromFiles({
    ...config,
    service: 'workspace',
    clock,
    report: (err) => logger.warn({ err }, 'no internal certificate, asking sys again'),
  });
  const tls = kept.identity;
  const barrier = createBarrier();
  const store = await openPostgresStore({
    connectionString: config.databaseUrl,
    barrier,
    clock,
    projections: WORKSPACE_PROJECTIONS,
    cacheBytes: config.storeCacheBytes,
  });
  const sys = { address: config.sysAddresses, service: 'sys', tls } as const;
  const cluster = createRpcClient(ClusterDefinition, sys);
  const sets = createRpcClient(ReplicationSetsDefinition, sys);
  const transport = await openNatsTransport(config);
  const registry = createRegistry(VERSION);
  registerStoreMetrics(registry, { workspace: store });
  const leases = new RedisLeaseStore({ connection: { url: config.redisUrl }, clock });
  const service = composeWorkspace({
    registry,
    config,
    store,
    barrier,
    leases,
    clock,
    logger,
    cluster,
    replication: { transport, sets },
  });
  await service.start();
  const calls = [[IdentityDefinition, service.identity]] as const;
  const server = await createRpcServer({
    address: config.rpcAddress,
    tls,
    services: [
      createEdgeServer(service.edge, calls, { report, clock }),
      implementService(ReplicationMemberDefinition, service.replica, { report }),
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
      await service.stop();
      await leases.close();
      cluster.close();
      sets.close();
      await transport.close();
      kept.stop();
      await store.close();
    },
  };
};

await runConfiguredProcess({
  name: 'keelson-workspace',
  schema: workspaceProcessConfig,
  environment: process.env,
  start,
});
