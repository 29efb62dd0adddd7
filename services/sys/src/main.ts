/** Runs the sys service as its own process. */
import { runServiceProcess } from '@keelson/cluster-member/process';
import { createEdgeServer } from '@keelson/edge/stream';
import { AuthMethodsDefinition } from '@keelson/proto/auth/v1/methods';
import { EngineDefinition } from '@keelson/proto/engine/v1/engine';
import { AccessDefinition } from '@keelson/proto/sys/v1/access';
import { ClusterDefinition, LeasesDefinition } from '@keelson/proto/sys/v1/cluster';
import { IdentitiesDefinition } from '@keelson/proto/sys/v1/identities';
import { InternalCertificatesDefinition } from '@keelson/proto/sys/v1/internal_certificates';
import { LoginsDefinition } from '@keelson/proto/sys/v1/logins';
import {
  ReplicationMemberDefinition,
  ReplicationSetsDefinition,
} from '@keelson/proto/sys/v1/replication';
import { implementService, openInternalIssuer } from '@keelson/rpc';
import { composeSys } from './compose.ts';
import { sysProcessConfig } from './config.ts';

await runServiceProcess({
  service: 'sys',
  schema: sysProcessConfig,
  environment: process.env,
  openIdentity: async ({ internalCaFile: file }, clock, logger) => {
    const report = (err: unknown) => logger.error({ err }, 'failed');
    const issuer = await openInternalIssuer({ file, clock, report });
    return { ...(await issuer.identityOf('sys')), issuer };
  },
  compose: async ({ connect, report, kept, ...parts }) => {
    const { pkiAddresses, workspaceAddresses, authAddresses, newStores } = parts.config;
    const service = composeSys({
      ...parts,
      newStores,
      storageType: 'postgresql',
    }).serve({
      engines: new Map([['pki', connect(EngineDefinition, 'pki', pkiAddresses)]]),
      authMethods: connect(AuthMethodsDefinition, 'auth', authAddresses),
      replicas: new Map([
        ['pki', connect(ReplicationMemberDefinition, 'pki', pkiAddresses)],
        ['workspace', connect(ReplicationMemberDefinition, 'workspace', workspaceAddresses)],
        ['auth', connect(ReplicationMemberDefinition, 'auth', authAddresses)],
      ]),
    });
    const calls = [[AccessDefinition, service.access]] as const;
    return {
      service,
      registrations: [
        createEdgeServer(service.edge, calls, { report, clock: parts.clock }),
        implementService(ClusterDefinition, service.cluster, { report }),
        implementService(LeasesDefinition, service.ledger, { report }),
        implementService(IdentitiesDefinition, service.identities, { callers: ['pki'], report }),
        implementService(LoginsDefinition, service.logins, { report }),
        implementService(ReplicationSetsDefinition, service.replicationSets, { report }),
        implementService(InternalCertificatesDefinition, kept.issuer.service, {
          callers: 'anyone',
          report,
        }),
      ],
    };
  },
});
