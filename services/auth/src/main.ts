/** Runs the auth methods as their own process. */
import { enrolledAs, runServiceProcess } from '@keelson/cluster-member/process';
import { createEdgeServer } from '@keelson/edge/stream';
import { AuthMethodsDefinition } from '@keelson/proto/auth/v1/methods';
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
    const { sysAddresses, workspaceAddresses } = parts.config;
    const service = composeAuth({
      ...parts,
      cluster: connectCluster(sysAddresses),
      logins: connect(LoginsDefinition, 'sys', sysAddresses),
      runs: connect(WorkloadIdentityDefinition, 'workspace', workspaceAddresses),
      replication: { transport, sets: connect(ReplicationSetsDefinition, 'sys', sysAddresses) },
    });
    return Promise.resolve({
      service,
      registrations: [
        createEdgeServer(service.edge, [], { report, clock: parts.clock }),
        implementService(AuthMethodsDefinition, service.methods, { report }),
        implementService(ReplicationMemberDefinition, service.replica, { report }),
      ],
    });
  },
});
