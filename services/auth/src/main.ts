/** Runs the auth methods as their own process. */
import { enrolledAs, runServiceProcess } from '@keelson/cluster-member/process';
import { createEdgeServer } from '@keelson/edge/stream';
import { ClientCertificatesDefinition } from '@keelson/proto/auth/v1/client_certificates';
import { AuthMethodsDefinition } from '@keelson/proto/auth/v1/methods';
import { ClientAuthoritiesDefinition } from '@keelson/proto/pki/v1/client_authorities';
import { LoginsDefinition } from '@keelson/proto/sys/v1/logins';
import {
  ReplicationMemberDefinition,
  ReplicationSetsDefinition,
} from '@keelson/proto/sys/v1/replication';
import { WorkloadIdentityDefinition } from '@keelson/proto/workspace/v1/workload_identity';
import { implementService } from '@keelson/rpc';
import { composeAuth } from './compose.ts';
import { authProcessConfig } from './config.ts';

await runServiceProcess({
  service: 'auth',
  schema: authProcessConfig,
  environment: process.env,
  openIdentity: enrolledAs('auth'),
  compose: ({ connect, connectCluster, transport, report, ...parts }) => {
    const { sysAddresses, pkiAddresses, workspaceAddresses } = parts.config;
    const service = composeAuth({
      ...parts,
      cluster: connectCluster(sysAddresses),
      logins: connect(LoginsDefinition, 'sys', sysAddresses),
      pki: connect(ClientAuthoritiesDefinition, 'pki', pkiAddresses),
      runs: connect(WorkloadIdentityDefinition, 'workspace', workspaceAddresses),
      replication: { transport, sets: connect(ReplicationSetsDefinition, 'sys', sysAddresses) },
    });
    return Promise.resolve({
      service,
      registrations: [
        createEdgeServer(service.edge, [], { report, clock: parts.clock }),
        implementService(AuthMethodsDefinition, service.methods, { report }),
        implementService(ClientCertificatesDefinition, service.clientCertificates, {
          callers: ['pki'],
          report,
        }),
        implementService(ReplicationMemberDefinition, service.replica, { report }),
      ],
    });
  },
});
