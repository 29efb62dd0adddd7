/** The composition root of a control plane in one process: services are called directly. */
import { availableParallelism } from 'node:os';
import { systemClock } from '@keelson/clock';
import { openNatsTransport } from '@keelson/cluster-member';
import type { Config } from '@keelson/config';
import { hasCode } from '@keelson/errors';
import type { Gateway } from '@keelson/gateway-service';
import { InProcessLeaseRecords, InProcessLeaseStore } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import { createStoreMemory } from '@keelson/storage';
import type { SysService } from '@keelson/sys-service';
import type { standaloneConfig } from './config.ts';
import type { DataFolder } from './data-folder.ts';
import { openEdgeCertificate } from './edge-certificate.ts';
import { requireAcceptable } from './examination.ts';
import { type FirstRun, followAddresses, writeFirstRun } from './first-run.ts';
import {
  finishFirstStart,
  firstRunFile,
  prepareStart,
  STORE_SERVICES,
  type StoreService,
  unsealKeyFile,
} from './first-start.ts';
import { prepareOwnRunner } from './own-runner.ts';
import { composeReplica } from './replica.ts';
import { recordPositions, storesNeverHad } from './store-positions.ts';
import {
  closeStores,
  createStoresRegistry,
  faultsOf,
  joinStores,
  metricFolders,
  openStores,
  type StoreMemories,
  type Stores,
  type StoresOptions,
  watchLosses,
} from './stores.ts';
import { ServingThreads } from './threads/serving-threads.ts';

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
  { config, folder }: StandaloneParts,
  keyFile: string,
  opened: Pick<StoresOptions, 'mayCreate' | 'memories' | 'cacheBytes' | 'onLost'>,
): Promise<Stores> => {
  if (!opened.mayCreate.includes('sys'))
    await requireAcceptable(folder, { keyFile, acceptedLosses: config.acceptLostCommits });
  return openStores({ folder, clock: systemClock, ...opened });
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

/** Threads that serve requests on a machine, unless a setting says otherwise. */
export const threadsFor = (processors: number): number =>
  processors <= 2 ? 1 : Math.min(processors - 1, 4);

const portOf = (addresses: readonly string[], scheme: string): number =>
  Number(addresses.map((address) => new URL(address)).find((url) => url.protocol === scheme)?.port);

/** @returns the addresses, which are those of all threads */
const listenOnAll = async (
  { httpPort, httpsPort, listenAddress }: StandaloneParts['config'],
  gateway: Gateway,
  others: ServingThreads | undefined,
): Promise<readonly string[]> => {
  await others?.requireFreePorts(listenAddress, [httpPort, httpsPort]);
  const { addresses } = await gateway.start();
  await others?.listen(gateway, {
    http: portOf(addresses, 'http:'),
    https: portOf(addresses, 'https:'),
  });
  return addresses;
};

const memoriesFor = (threads: number): StoreMemories | undefined =>
  threads === 1
    ? undefined
    : (Object.fromEntries(
        STORE_SERVICES.map((service) => [service, createStoreMemory()]),
      ) as StoreMemories);

/** Opens the stores, starts the services and the gateway; initializes everything on the first start. */
export const startStandalone = async (given: StandaloneParts): Promise<Standalone> => {
  const { folder, logger } = given;
  const config = {
    ...given.config,
    unsealKeyFile: given.config.unsealKeyFile ?? unsealKeyFile(folder),
  };
  const threads = config.workers ?? threadsFor(availableParallelism());
  const memories = memoriesFor(threads);
  const neverHad = storesNeverHad(folder);
  const isFirst = prepareStart(folder, config.unsealKeyFile, neverHad) === 'first';
  const added = isFirst ? STORE_SERVICES : neverHad;
  const losses = watchLosses(logger);
  const stores = await openOwnStores(given, config.unsealKeyFile, {
    mayCreate: added,
    memories,
    cacheBytes: Math.ceil(config.storeCacheBytes / threads),
    onLost: losses.onLost,
  });

  const leaseRecords = new InProcessLeaseRecords();
  const leases = new InProcessLeaseStore({ records: leaseRecords });
  const transport = await openNatsTransport(config);
  const { prepared, ...runner } = await prepareOwnRunner(given);
  const replica = composeReplica({
    config,
    folder,
    stores,
    leases,
    transport,
    registry: createStoresRegistry(stores, metricFolders(folder, config)),
    runner,
    threads,
    logger,
  });
  await startSys(replica.sys, stores, { added, keyFile: config.unsealKeyFile });
  const keys = isFirst ? await replica.sys.seal.ensureFirstKeys() : undefined;
  await replica.startFollowers();

  const tls = await openEdgeCertificate(config, folder, logger);
  const others =
    memories &&
    new ServingThreads({
      plan: { config, folder: folder.path, memories, runner, threads },
      leases: leaseRecords,
      tls: tls.source,
    });
  await others?.start();
  const gateway = replica.composeGateway(tls.source, losses.restartReason, others?.siblings);
  const listening = await listenOnAll(config, gateway, others);
  // Provisioning CLIs take a host name, and the certificate's first name is localhost.
  const addresses = listening.map((address) =>
    address.replace('https://127.0.0.1:', 'https://localhost:'),
  );
  const caCertificateFile = tls.authorityFile;

  let firstRun: FirstRun | undefined;
  if (keys !== undefined) {
    const { token } = await replica.workspace.ensureAdminToken();
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
  const positions = await recordPositions({ stores, folder, clock: systemClock, logger });

  const https = addresses.find((address) => address.startsWith('https:'));
  const http = addresses.find((address) => address.startsWith('http:')) ?? '';
  const running = prepared?.start({
    address: http,
    host: new URL(config.publicUrl ?? https ?? http).host,
    token: runner.token ?? '',
    caFile: caCertificateFile,
    mayHaveWork: () => replica.workspace.isRunWaiting(),
  });

  return {
    addresses,
    caCertificateFile,
    ...(firstRun === undefined ? {} : { firstRun }),
    runs: runner.status.description,
    storeFaults: faultsOf(stores),
    reload: async () => {
      await Promise.all([gateway.reload(), others?.reload()]);
    },
    stop: async () => {
      // First, because it reports the phases that it interrupts.
      await running?.stop();
      await Promise.all([gateway.stop(), others?.stop()]);
      tls.source.close();
      await replica.stop();
      await positions.stop();
      await leases.close();
      await transport.close();
      await closeStores(stores);
    },
  };
};
