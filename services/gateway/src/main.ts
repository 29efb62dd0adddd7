/** Starts the gateway as its own process: the services are other processes, reached over mTLS. */
import { systemClock } from '@keelson/clock';
import type { Config } from '@keelson/config';
import { connectEdge, type EveryReplica } from '@keelson/edge/stream';
import type { Logger } from '@keelson/logging';
import { createRegistry } from '@keelson/metrics';
import { EnrolmentDefinition } from '@keelson/proto/pki/v1/enrolment';
import { AccessDefinition } from '@keelson/proto/sys/v1/access';
import { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import { WorkloadIdentityDefinition } from '@keelson/proto/workspace/v1/workload_identity';
import { enrolIdentityFromFiles } from '@keelson/rpc';
import { runConfiguredProcess, VERSION } from '@keelson/runtime';
import { composeGateway, openCertificateFiles } from './compose.ts';
import { gatewayProcessConfig } from './config.ts';
import { openSharedCount } from './limits/shared-count.ts';
import { everySysReplica } from './v1/every-sys-replica.ts';

const start = async (config: Config<typeof gatewayProcessConfig>, logger: Logger) => {
  const report = (err: unknown): void => logger.warn({ err }, 'could not renew');
  const kept = await enrolIdentityFromFiles({
    ...config,
    service: 'gateway',
    clock: systemClock,
    report: (err) => logger.warn({ err }, 'no internal certificate, asking sys again'),
  });
  const connect = (service: string, addresses: readonly string[], everyReplica?: EveryReplica) =>
    connectEdge({ service, addresses, tls: kept.identity }, everyReplica);
  const sys = connect('sys', config.sysAddresses, everySysReplica);
  const workspace = connect('workspace', config.workspaceAddresses);
  const pki = connect('pki', config.pkiAddresses);
  const auth = connect('auth', config.authAddresses);
  const { tlsCertificateFile: certificateFile, tlsKeyFile: keyFile } = config;
  const tls =
    certificateFile !== undefined && keyFile !== undefined
      ? await openCertificateFiles({ certificateFile, keyFile, report })
      : undefined;
  const { rateLimitRedisUrl } = config;
  const sharedCount =
    rateLimitRedisUrl === undefined
      ? undefined
      : openSharedCount({ ...config, redisUrl: rateLimitRedisUrl }, (err) =>
          logger.warn({ err }, 'Redis of the rate limit cannot be reached'),
        );
  const gateway = composeGateway({
    config,
    clock: systemClock,
    logger,
    services: { sys: sys.edge, workspace: workspace.edge, pki: pki.edge, auth: auth.edge },
    access: sys.client(AccessDefinition),
    identity: workspace.client(IdentityDefinition),
    workloadIdentity: workspace.client(WorkloadIdentityDefinition),
    enrolment: pki.client(EnrolmentDefinition),
    ownFiles: [config.internalCaFile, config.joinTokenFile],
    tls,
    sharedCount,
    drainMs: config.drainSeconds * 1000,
    registry: createRegistry(VERSION),
  });
  await gateway.start();
  return {
    reload: () => gateway.reload(),
    stop: async () => {
      await gateway.stop();
      tls?.close();
      sharedCount?.close();
      await Promise.all([sys.close(), workspace.close(), pki.close(), auth.close()]);
      kept.stop();
    },
  };
};

await runConfiguredProcess({
  name: 'keelson-gateway',
  schema: gatewayProcessConfig,
  environment: process.env,
  start,
});
