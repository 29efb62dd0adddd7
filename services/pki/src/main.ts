/** Runs the certificate authority as its own process. */
import { enrolledAs, runServiceProcess } from '@keelson/cluster-member/process';
import { createEdgeServer } from '@keelson/edge/stream';
import { ClientCertificatesDefinition } from '@keelson/proto/auth/v1/client_certificates';
import { EngineDefinition } from '@keelson/proto/engine/v1/engine';
import { ClientAuthoritiesDefinition } from '@keelson/proto/pki/v1/client_authorities';
import { EnrolmentDefinition } from '@keelson/proto/pki/v1/enrolment';
import { LeasesDefinition } from '@keelson/proto/sys/v1/cluster';
import { IdentitiesDefinition } from '@keelson/proto/sys/v1/identities';
import {
  ReplicationMemberDefinition,
  ReplicationSetsDefinition,
} from '@keelson/proto/sys/v1/replication';
import { implementService } from '@keelson/rpc';
import { composePki, PKI_PROJECTIONS } from './compose.ts';
import { pkiProcessConfig } from './config.ts';

await runServiceProcess({
  service: 'pki',
  schema: pkiProcessConfig,
  environment: process.env,
  projections: PKI_PROJECTIONS,
  openIdentity: enrolledAs('pki'),
  compose: async ({ connect, connectCluster, transport, report, ...parts }) => {
    const { sysAddresses, authAddresses } = parts.config;
    const service = composePki({
      ...parts,
      hasReplicas: true,
      cluster: connectCluster(sysAddresses),
      ledger: connect(LeasesDefinition, 'sys', sysAddresses),
      identities: connect(IdentitiesDefinition, 'sys', sysAddresses),
      clientCertificates: connect(ClientCertificatesDefinition, 'auth', authAddresses),
      replication: { transport, sets: connect(ReplicationSetsDefinition, 'sys', sysAddresses) },
    });
    const calls = [[EnrolmentDefinition, service.enrolment]] as const;
    return {
      service,
      registrations: [
        createEdgeServer(service.edge, calls, { report, clock: parts.clock }),
        implementService(ClientAuthoritiesDefinition, service.clientAuthorities, {
          callers: ['auth'],
          report,
        }),
        implementService(EngineDefinition, service.engine, { report }),
        implementService(ReplicationMemberDefinition, service.replica, { report }),
      ],
    };
  },
});
