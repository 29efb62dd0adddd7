/**
 * One replica of all services and the gateway on the stores of this process, without a network in between. Each thread
 * that serves clients has one.
 */
import { availableParallelism } from 'node:os';
import { composeAuth } from '@keelson/auth-service';
import { systemClock } from '@keelson/clock';
import type { openNatsTransport } from '@keelson/cluster-member';
import type { Config } from '@keelson/config';
import {
  type CertificateSource,
  composeGateway,
  type Gateway,
  type SiblingGateways,
} from '@keelson/gateway-service';
import type { LeaseStore } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { MetricsRegistry } from '@keelson/metrics';
import { composePki } from '@keelson/pki-service';
import { composeSys, type RestoredInstallation } from '@keelson/sys-service';
import { composeWorkspace } from '@keelson/workspace-service';
import type { standaloneConfig } from './config.ts';
import type { DataPlace } from './data-folder.ts';
import { setFirstRunAside } from './first-run.ts';
import { firstRunFile } from './first-start.ts';
import type { OwnRunner } from './own-runner.ts';
import { requireRestorationSpace } from './restoration-space.ts';
import type { Stores } from './stores.ts';

export interface ReplicaParts {
  /** With the file of the unseal key. */
  readonly config: Config<typeof standaloneConfig> & { readonly unsealKeyFile: string };
  readonly folder: DataPlace;
  readonly stores: Stores;
  readonly leases: LeaseStore;
  readonly transport: Awaited<ReturnType<typeof openNatsTransport>>;
  readonly registry: MetricsRegistry;
  readonly runner: Omit<OwnRunner, 'prepared'>;
  /** Threads that serve clients, with this one. */
  readonly threads: number;
  readonly logger: Logger;
}

const restoredInstallation = (stores: Stores, folder: DataPlace): RestoredInstallation => ({
  requireSpace: () => requireRestorationSpace(stores, folder),
  forgetCluster: () => setFirstRunAside(firstRunFile(folder)),
});

export const composeReplica = (given: ReplicaParts) => {
  const { config, folder, stores, leases, transport, registry, runner, threads, logger } = given;
  const parts = { config, leases, clock: systemClock, logger, registry };
  const composedSys = composeSys({
    ...parts,
    ...stores.sys,
    transport,
    installation: restoredInstallation(stores, folder),
    runner: runner.status,
  });
  const { cluster, ledger, identities, logins, replicationSets: sets } = composedSys;
  const replication = { transport, sets };
  const pki = composePki({
    ...parts,
    ...stores.pki,
    cluster,
    ledger,
    identities,
    hasReplicas: threads > 1,
    processors: availableParallelism() / threads,
    // auth asks pki as well, and is composed after it.
    clientCertificates: {
      findRole: (request) => auth.clientCertificates.findRole(request),
      judge: (request) => auth.clientCertificates.judge(request),
    },
    replication,
  });
  const workspace = composeWorkspace({
    ...parts,
    ...stores.workspace,
    config: { ...config, ...(runner.token !== undefined && { runnerToken: runner.token }) },
    runnerFault: runner.fault,
    cluster,
    replication,
  });
  const auth = composeAuth({
    ...parts,
    ...stores.auth,
    cluster,
    logins,
    pki: pki.clientAuthorities,
    runs: workspace.workloadIdentity,
    replication,
  });
  const sys = composedSys.serve({
    engines: new Map([['pki', pki.engine]]),
    authMethods: auth.methods,
    replicas: new Map([
      ['pki', pki.replica],
      ['workspace', workspace.replica],
      ['auth', auth.replica],
    ]),
  });
  return {
    sys,
    workspace,
    /** Starts the services that follow sys, and resolves when they serve. */
    startFollowers: async (): Promise<void> => {
      for (const service of [pki, workspace, auth]) {
        await service.start();
        // Otherwise a process that reports itself as up would refuse its first requests as sealed.
        await service.joined;
      }
    },
    /** @param siblings gateways of the other threads, if there are any */
    composeGateway: (
      tls: CertificateSource,
      needsRestart: () => string | undefined,
      siblings: SiblingGateways | undefined,
    ): Gateway =>
      composeGateway({
        config,
        clock: systemClock,
        logger,
        services: { sys: sys.edge, pki: pki.edge, workspace: workspace.edge, auth: auth.edge },
        access: sys.access,
        identity: workspace.identity,
        workloadIdentity: workspace.workloadIdentity,
        enrolment: pki.enrolment,
        ownFiles: [folder.path, config.unsealKeyFile, config.logFile ?? ''].filter(
          (file) => file !== '',
        ),
        needsRestart,
        tls,
        siblings,
        registry,
      }),
    stop: async (): Promise<void> => {
      for (const service of [auth, workspace, pki, sys]) await service.stop();
    },
  };
};
