/** Runs the workspace service as its own process. */
import { enrolledAs, runServiceProcess } from '@keelson/cluster-member/process';
import { createEdgeServer } from '@keelson/edge/stream';
import {
  ReplicationMemberDefinition,
  ReplicationSetsDefinition,
} from '@keelson/proto/sys/v1/replication';
import { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import { WorkloadIdentityDefinition } from '@keelson/proto/workspace/v1/workload_identity';
import { implementService } from '@keelson/rpc';
import { composeWorkspace, WORKSPACE_PROJECTIONS } from './compose.ts';
import { workspaceProcessConfig } from './config.ts';
import { withTokensOfFiles } from './identity/tokens/token-files.ts';

await runServiceProcess({
  service: 'workspace',
  schema: workspaceProcessConfig,
  environment: process.env,
  projections: WORKSPACE_PROJECTIONS,
  openIdentity: enrolledAs('workspace'),
  compose: async ({ connect, connectCluster, transport, report, ...parts }) => {
    const config = await withTokensOfFiles(parts.config);
    const service = composeWorkspace({
      ...parts,
      config,
      cluster: connectCluster(config.sysAddresses),
      replication: {
        transport,
        sets: connect(ReplicationSetsDefinition, 'sys', config.sysAddresses),
      },
    });
    const calls = [
      [IdentityDefinition, service.identity],
      [WorkloadIdentityDefinition, service.workloadIdentity],
    ] as const;
    return {
      service,
      registrations: [
        createEdgeServer(service.edge, calls, { report, clock: parts.clock }),
        implementService(ReplicationMemberDefinition, service.replica, { report }),
        implementService(WorkloadIdentityDefinition, service.workloadIdentity, {
          callers: ['auth'],
          report,
        }),
      ],
    };
  },
});
