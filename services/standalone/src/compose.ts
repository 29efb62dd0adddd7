/** The composition root of a control plane in one process: services are called directly. */
import { systemClock } from '@keelson/clock';
import { openNatsTransport } from '@keelson/cluster-member';
import type { Config } from '@keelson/config';
import { composeGateway } from '@keelson/gateway-service';
import { InProcessLeaseStore } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import { composePki, PKI_PROJECTIONS } from '@keelson/pki-service';
import type { EngineDefinition } from '@keelson/proto/engine/v1/engine';
import type { ReplicationMemberDefinition } from '@keelson/proto/sys/v1/replication';
import type { RpcService } from '@keelson/rpc';
import { createBarrier, openSqliteStore, type Projection } from '@keelson/storage';
import { composeSys } from '@keelson/sys-service';
import { composeWorkspace, WORKSPACE_PROJECTIONS } from '@keelson/workspace-service';
import type { standaloneConfig } from './config.ts';
import type { DataFolder } from './data-folder.ts';
import { openEdgeCertificate } from './edge-certificate.ts';
import { type FirstRun, writeFirstRun } from './first-run.ts';
import {
  beginFirstStart,
  discardUnfinishedStart,
  finishFirstStart,
  type StoreService,
  storeFile,
  unsealKeyFile,
} from './first-start.ts';

export interface StandaloneParts {
  readonly config: Config<typeof standaloneConfig>;
  readonly folder: DataFolder;
  readonly logger: Logger;
}

export interface Standalone {
  readonly addresses: readonly string[];
  /** What clients have to trust; absent when the certificate was given. */
  readonly caCertificateFile: string | undefined;
  /** Present on the first start only. */
  readonly firstRun?: FirstRun;
  stop(): Promise<void>;
}

/** Opens the stores, starts the services and the gateway; initializes everything on the first start. */
export const startStandalone = async (parts: StandaloneParts): Promise<Standalone> => {
  const { folder, logger } = parts;
  const config = {
    ...parts.config,
    unsealKeyFile: parts.config.unsealKeyFile ?? unsealKeyFile(folder),
  };
  const clock = systemClock;
  discardUnfinishedStart(folder);

  const leases = new InProcessLeaseStore();
  const transport = await openNatsTransport(config);
  const openStore = async (service: StoreService, projections: readonly Projection[] = []) => {
    const barrier = createBarrier({ clock });
    const store = await openSqliteStore({
      file: storeFile(folder, service),
      barrier,
      clock,
      projections,
      cacheBytes: config.storeCacheBytes,
    });
    return { config, store, barrier, leases, clock, logger };
  };
  const stores = {
    sys: await openStore('sys'),
    pki: await openStore('pki', PKI_PROJECTIONS),
    workspace: await openStore('workspace', WORKSPACE_PROJECTIONS),
  };

  const engines = new Map<string, RpcService<typeof EngineDefinition>>();
  const replicas = new Map<string, RpcService<typeof ReplicationMemberDefinition>>();
  const sys = composeSys({ ...stores.sys, engines, replicas, transport });
  const { cluster, ledger } = sys;
  const replication = { transport, sets: sys.replicationSets };
  const pki = composePki({ ...stores.pki, cluster, ledger, replication });
  engines.set('pki', pki.engine);
  replicas.set('pki', pki.replica);
  const workspace = composeWorkspace({ ...stores.workspace, cluster, replication });
  replicas.set('workspace', workspace.replica);
  for (const service of [sys, pki, workspace]) await service.start();

  const { initialized } = await sys.seal.status();
  if (!initialized) beginFirstStart(folder);
  const keys = initialized ? undefined : await sys.seal.initialize();

  const tls = await openEdgeCertificate(config, folder, logger);
  const gateway = composeGateway({
    config,
    clock,
    logger,
    services: { sys: sys.edge, pki: pki.edge, workspace: workspace.edge },
    access: sys.access,
    decisionState: sys.decisionState,
    identity: workspace.identity,
    enrolment: pki.enrolment,
    ownFiles: [folder.path, config.unsealKeyFile, config.logFile ?? ''].filter(
      (file) => file !== '',
    ),
    tls: tls.source,
  });
  const listening = await gateway.start();
  // Provisioning CLIs take a host name, and the certificate's first name is localhost.
  const addresses = listening.addresses.map((address) =>
    address.replace('https://127.0.0.1:', 'https://localhost:'),
  );
  const caCertificateFile = tls.authorityFile;

  let firstRun: FirstRun | undefined;
  if (keys !== undefined) {
    const { token } = await workspace.ensureAdminToken();
    firstRun = {
      root_token: keys.rootToken,
      api_token: token,
      addresses,
      ca_certificate_file: caCertificateFile ?? '',
      unseal_keys: keys.keysBase64,
    };
    writeFirstRun(folder.file('first-run.json'), firstRun);
    finishFirstStart(folder);
  }

  return {
    addresses,
    caCertificateFile,
    ...(firstRun === undefined ? {} : { firstRun }),
    stop: async () => {
      await gateway.stop();
      tls.source.close();
      for (const service of [workspace, pki, sys]) await service.stop();
      for (const { store } of Object.values(stores)) await store.close();
      await leases.close();
      await transport.close();
    },
  };
};
