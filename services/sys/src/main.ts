/** Runs the sys service as its own process: gRPC, PostgreSQL for its records, Redis for its leases. */
import { systemClock } from '@keelson/clock';
import { openNatsTransport } from '@keelson/cluster-member';
import type { Config } from '@keelson/config';
import { createEdgeServer } from '@keelson/edge/stream';
import { RedisLeaseStore } from '@keelson/locks/redis';
import type { Logger } from '@keelson/logging';
import { createRegistry, registerStoreMetrics } from '@keelson/metrics';
import { EngineDefinition } from '@keelson/proto/engine/v1/engine';
import { AccessDefinition } from '@keelson/proto/sys/v1/access';
import { ClusterDefinition, LeasesDefinition } from '@keelson/proto/sys/v1/cluster';
import { InternalCertificatesDefinition } from '@keelson/proto/sys/v1/internal_certificates';
import {
  ReplicationMemberDefinition,
  ReplicationSetsDefinition,
} from '@keelson/proto/sys/v1/replication';
import {
  createRpcClient,
  createRpcServer,
  implementService,
  openInternalIssuer,
} from '@keelson/rpc';
import { runConfiguredProcess, startProbes, VERSION } from '@keelson/runtime';
import { createBarrier } from '@keelson/storage';
import { openPostgresStore } from '@keelson/storage/postgres';
import { composeSys } from './compose.ts';
import { sysProcessConfig } from './config.ts';

const start = async (config: Config<typeof sysProcessConfig>, logger: Logger) => {
  const clock = systemClock;
  const report = (error: unknown, method?: string) =>
    logger.error({ err: error, method }, 'failed');
  const issuer = await openInternalIssuer({ file: config.internalCaFile, clock, report });
  const kept = await issuer.identityOf('sys');
  const tls = kept.identity;
  const barrier = createBarrier();
  const store = await openPostgresStore({
    connectionString: config.databaseUrl,
    barrier,
    clock,
    cacheBytes: config.storeCacheBytes,
  });
  const registry = createRegistry(VERSION);
  registerStoreMetrics(registry, { sys: store });
  const leases = new RedisLeaseStore({ connection: { url: config.redisUrl }, clock });
  const pkiTarget = { address: config.pkiAddresses, service: 'pki', tls } as const;
  const workspaceTarget = {
    address: config.workspaceAddresses,
    service: 'workspace',
    tls,
  } as const;
  const pki = createRpcClient(EngineDefinition, pkiTarget);
  const replicas = {
    pki: createRpcClient(ReplicationMemberDefinition, pkiTarget),
    workspace: createRpcClient(ReplicationMemberDefinition, workspaceTarget),
  };
  const transport = await openNatsTransport(config);
  const sys = composeSys({
    registry,
    config,
    newStores: config.newStores,
    store,
    barrier,
    leases,
    clock,
    logger,
    engines: new Map([['pki', pki]]),
    replicas: new Map(Object.entries(replicas)),
    transport,
    storageType: 'postgresql',
  });
  await sys.start();
  const server = await createRpcServer({
    address: config.rpcAddress,
    tls,
    services: [
      createEdgeServer(sys.edge, [[AccessDefinition, sys.access]], { report, clock }),
      implementService(ClusterDefinition, sys.cluster, { report }),
      implementService(LeasesDefinition, sys.ledger, { report }),
      implementService(ReplicationSetsDefinition, sys.replicationSets, { report }),
      implementService(InternalCertificatesDefinition, issuer.service, {
        callers: 'anyone',
        report,
      }),
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
      await sys.stop();
      pki.close();
      replicas.pki.close();
      replicas.workspace.close();
      await transport.close();
      kept.stop();
      await leases.close();
      await store.close();
    },
  };
};

await runConfiguredProcess({
  name: 'keelson-sys',
  schema: sysProcessConfig,
  environment: process.env,
  start,
});
