/** The composition root of a control plane in one process: services are called directly. */
import { composeAuth } from '@keelson/auth-service';
import { systemClock } from '@keelson/clock';
import { openNatsTransport } from '@keelson/cluster-member';
import type { Config } from '@keelson/config';
import { hasCode } from '@keelson/errors';
import { composeGateway } from '@keelson/gateway-service';
import { InProcessLeaseStore } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import { composePki } from '@keelson/pki-service';
import { composeSys, type RestoredInstallation, type SysService } from '@keelson/sys-service';
import { composeWorkspace } from '@keelson/workspace-service';
import type { standaloneConfig } from './config.ts';
import type { DataFolder } from './data-folder.ts';
import { openEdgeCertificate } from './edge-certificate.ts';
import { requireAcceptable } from './examination.ts';
import { type FirstRun, followAddresses, setFirstRunAside, writeFirstRun } from './first-run.ts';
import {
  finishFirstStart,
  firstRunFile,
  prepareStart,
  STORE_SERVICES,
  type StoreService,
  unsealKeyFile,
} from './first-start.ts';
import { prepareOwnRunner } from './own-runner.ts';
import { requireRestorationSpace } from './restoration-space.ts';
import { recordPositions, storesNeverHad } from './store-positions.ts';
import {
  closeStores,
  createStoresRegistry,
  faultsOf,
  joinStores,
  openStores,
  type Stores,
} from './stores.ts';

export interface StandaloneParts {
  readonly config: Config<typeof standaloneConfig>;
  readonly folder: DataFolder;
  /**
   * Environment of the process. The tool of the built-in runner receives PATH and the variables named in a
   * setting.
   */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
}

export interface Standalone {
  readonly addresses: readonly string[];
  /** PEM file of the CA that clients must trust; absent if the operator provided a certificate. */
  readonly caCertificateFile: string | undefined;
  /** Present on the first start only. */
  readonly firstRun?: FirstRun;
  /** A sentence about the execution of runs, without its subject. */
  readonly runs: string;
  /** Faults of the stores and their disk at the start, in sentences. */
  readonly storeFaults: readonly string[];
  /** Reopens audit files and reloads the certificate. */
  reload(): Promise<void>;
  stop(): Promise<void>;
}

/** Opens the stores, for writing only once all of them and the key are accepted. */
const openOwnStores = async (
  { config, folder, logger }: StandaloneParts,
  keyFile: string,
  added: readonly StoreService[],
): Promise<{ readonly stores: Stores; readonly lost: ReadonlySet<StoreService> }> => {
  if (!added.includes('sys'))
    await requireAcceptable(folder, { keyFile, acceptedLosses: config.acceptLostCommits });
  const lost = new Set<StoreService>();
  const stores = await openStores({
    folder,
    mayCreate: added,
    clock: systemClock,
    cacheBytes: config.storeCacheBytes,
    onLost: (service, err, file) => {
      lost.add(service);
      logger.fatal(
        { err, service, file },
        'a write to the disk failed: the store is closed until Keelson is restarted',
      );
    },
  });
  return { stores, lost };
};

/** Starts sys on stores that belong together; closes them if that fails. */
const startSys = async (
  sys: SysService,
  stores: Stores,
  { added, keyFile }: { readonly added: readonly StoreService[]; readonly keyFile: string },
): Promise<void> => {
  try {
    await joinStores(stores, added);
    if (!added.includes('sys')) await sys.finishRestoration();
    await sys.start();
  } catch (cause) {
    await closeStores(stores).catch(() => undefined);
    // The key was accepted before, so it is the restoration that brought another one.
    throw hasCode(cause, 'sys.wrong_unseal_key')
      ? new Error(
          `${keyFile}: ${cause.message}. The restoration of a snapshot of another cluster was finished: put the key file of that cluster there.`,
          { cause },
        )
      : cause;
  }
};

const restoredInstallation = (stores: Stores, folder: DataFolder): RestoredInstallation => ({
  requireSpace: () => requireRestorationSpace(stores, folder),
  forgetCluster: () => setFirstRunAside(firstRunFile(folder)),
});

/** A full disk does not keep the process from starting: reads are served. */
const enterAddresses = (
  { folder, logger }: StandaloneParts,
  addresses: readonly string[],
): void => {
  try {
    followAddresses(firstRunFile(folder), addresses);
  } catch (err) {
    logger.warn({ err }, 'the addresses in the first-run file are those of a former start');
  }
};

const restartReason = (lost: ReadonlySet<StoreService>): string | undefined =>
  lost.size === 0
    ? undefined
    : `closed after a failed write to their files: ${[...lost].map((service) => `the ${service} store`).join(', ')}`;

/** Opens the stores, starts the services and the gateway; initializes everything on the first start. */
export const startStandalone = async (given: StandaloneParts): Promise<Standalone> => {
  const { folder, logger } = given;
  const config = {
    ...given.config,
    unsealKeyFile: given.config.unsealKeyFile ?? unsealKeyFile(folder),
  };
  const clock = systemClock;
  const neverHad = storesNeverHad(folder);
  const isFirst = prepareStart(folder, config.unsealKeyFile, neverHad) === 'first';
  const added = isFirst ? STORE_SERVICES : neverHad;
  const { stores, lost } = await openOwnStores(given, config.unsealKeyFile, added);

  const leases = new InProcessLeaseStore();
  const transport = await openNatsTransport(config);
  const registry = createStoresRegistry(stores, {
    data: folder.path,
    ...(config.backupFolder !== undefined && { backups: config.backupFolder }),
  });
  const parts = { config, leases, clock, logger, registry };

  const installation = restoredInstallation(stores, folder);
  const ownRunner = await prepareOwnRunner(given);
  const { prepared, token: runnerToken } = ownRunner;
  const composedSys = composeSys({
    ...parts,
    ...stores.sys,
    transport,
    installation,
    runner: ownRunner.status,
  });
  const { cluster, ledger, identities, logins, replicationSets: sets } = composedSys;
  const replication = { transport, sets };
  const pki = composePki({
    ...parts,
    ...stores.pki,
    cluster,
    ledger,
    identities,
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
    config: { ...config, ...(runnerToken !== undefined && { runnerToken }) },
    runnerFault: ownRunner.fault,
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
  await startSys(sys, stores, { added, keyFile: config.unsealKeyFile });
  const keys = isFirst ? await sys.seal.ensureFirstKeys() : undefined;
  for (const service of [pki, workspace, auth]) {
    await service.start();
    // Otherwise a process that reports itself as up would refuse its first requests as sealed.
    await service.joined;
  }

  const tls = await openEdgeCertificate(config, folder, logger);
  const gateway = composeGateway({
    config,
    clock,
    logger,
    services: { sys: sys.edge, pki: pki.edge, workspace: workspace.edge, auth: auth.edge },
    access: sys.access,
    identity: workspace.identity,
    workloadIdentity: workspace.workloadIdentity,
    enrolment: pki.enrolment,
    ownFiles: [folder.path, config.unsealKeyFile, config.logFile ?? ''].filter(
      (file) => file !== '',
    ),
    needsRestart: () => restartReason(lost),
    tls: tls.source,
    registry,
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
    writeFirstRun(firstRunFile(folder), firstRun);
    finishFirstStart(folder);
  } else enterAddresses(given, addresses);
  const positions = await recordPositions({ stores, folder, clock, logger });

  const https = addresses.find((address) => address.startsWith('https:'));
  const http = addresses.find((address) => address.startsWith('http:')) ?? '';
  const runner = prepared?.start({
    address: http,
    host: new URL(config.publicUrl ?? https ?? http).host,
    token: runnerToken ?? '',
    caFile: caCertificateFile,
    mayHaveWork: () => workspace.isRunWaiting(),
  });

  return {
    addresses,
    caCertificateFile,
    ...(firstRun === undefined ? {} : { firstRun }),
    runs: ownRunner.status.description,
    storeFaults: faultsOf(stores),
    reload: () => gateway.reload(),
    stop: async () => {
      // First, because it reports the phases that it interrupts.
      await runner?.stop();
      await gateway.stop();
      tls.source.close();
      for (const service of [auth, workspace, pki, sys]) await service.stop();
      await positions.stop();
      await leases.close();
      await transport.close();
      await closeStores(stores);
    },
  };
};
