/** The stores of the services: one SQLite file each, made and opened together or not at all. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import type { Logger } from '@keelson/logging';
import {
  createRegistry,
  type MetricsRegistry,
  registerDiskMetrics,
  registerStoreMetrics,
} from '@keelson/metrics';
import { PKI_PROJECTIONS } from '@keelson/pki-service';
import { VERSION } from '@keelson/runtime';
import {
  type Barrier,
  createBarrier,
  joinSqliteStore,
  openSqliteStore,
  type Projection,
  type Store,
  type StoreMemory,
} from '@keelson/storage';
import { WORKSPACE_PROJECTIONS } from '@keelson/workspace-service';
import type { DataPlace } from './data-folder.ts';
import { STORE_SERVICES, type StoreService, storeFile } from './first-start.ts';
import { originRecord } from './store-origin.ts';

export interface OpenStore {
  readonly store: Store;
  readonly barrier: Barrier;
}

export type Stores = Readonly<Record<StoreService, OpenStore>>;

/** Memory of each store that several threads have open. */
export type StoreMemories = Readonly<Record<StoreService, StoreMemory>>;

export interface JoinedStoresOptions {
  readonly folder: DataPlace;
  readonly clock: Clock;
  /** Cache memory of each store, in bytes. */
  readonly cacheBytes: number;
  /**
   * Called once for a store whose files could not be written; the store serves nothing until it is
   * reopened.
   */
  readonly onLost: (service: StoreService, error: Error | undefined, file: string) => void;
  readonly memories: StoreMemories;
}

export interface StoresOptions extends Omit<JoinedStoresOptions, 'memories'> {
  /** The stores that are created if they are missing. */
  readonly mayCreate: readonly StoreService[];
  /** Absent if no other thread opens the stores. */
  readonly memories?: StoreMemories | undefined;
}

const PROJECTIONS: Readonly<Record<StoreService, readonly Projection[]>> = {
  sys: [],
  pki: PKI_PROJECTIONS,
  workspace: WORKSPACE_PROJECTIONS,
  auth: [],
};

/**
 * Marks stores as belonging together, even if an interrupted start has marked some.
 * @param services those that are new
 */
export const joinStores = async (
  stores: Stores,
  services: readonly StoreService[],
): Promise<void> => {
  const id = (await originRecord.find(stores.sys.store))?.id ?? randomUUID();
  for (const service of services)
    await stores[service].store.transact((tx) => originRecord.write(tx, { id, service }));
};

/** Folders whose disks the metrics show, by purpose. */
export const metricFolders = (
  folder: DataPlace,
  { backupFolder }: { readonly backupFolder?: string | undefined },
): Readonly<Record<string, string>> => ({
  data: folder.path,
  ...(backupFolder !== undefined && { backups: backupFolder }),
});

/** The metrics of a thread, with those of its stores and disks. @param folders by purpose */
export const createStoresRegistry = (
  stores: Stores,
  folders: Readonly<Record<string, string>>,
): MetricsRegistry => {
  const registry = createRegistry(VERSION);
  registerDiskMetrics(registry, folders);
  registerStoreMetrics(
    registry,
    Object.fromEntries(Object.entries(stores).map(([service, { store }]) => [service, store])),
  );
  return registry;
};

/** Closes all of them. @throws Error naming what could not be written to a file */
export const closeStores = async (stores: Partial<Stores>): Promise<void> => {
  const failures: string[] = [];
  for (const { store } of Object.values(stores))
    await store.close().catch((error: Error) => failures.push(error.message));
  if (failures.length > 0) throw new Error(failures.join('; '));
};

/** Faults of the stores and their disk, in sentences without repetition. */
export const faultsOf = (stores: Stores): readonly string[] => [
  ...new Set(Object.values(stores).flatMap(({ store }) => store.faults().map(({ text }) => text))),
];

/** @throws Error naming the file that cannot be used; those that were opened are closed again */
export const openStores = ({ mayCreate, ...options }: StoresOptions): Promise<Stores> =>
  openEach(options, (service, store) =>
    openSqliteStore({
      ...store,
      mayCreate: mayCreate.includes(service),
      memory: options.memories?.[service],
    }),
  );

/** Opens stores that the first thread of the process has open. @throws as `openStores` */
export const joinStoresOfProcess = (options: JoinedStoresOptions): Promise<Stores> =>
  openEach(options, (service, store) =>
    joinSqliteStore({ ...store, memory: options.memories[service] }),
  );

type OpenOne = (
  service: StoreService,
  options: Omit<Parameters<typeof joinSqliteStore>[0], 'memory'>,
) => Promise<Store>;

const openEach = async (
  { folder, clock, cacheBytes, onLost }: Omit<JoinedStoresOptions, 'memories'>,
  open: OpenOne,
): Promise<Stores> => {
  const opened: Partial<Record<StoreService, OpenStore>> = {};
  for (const service of STORE_SERVICES) {
    const barrier = createBarrier({ clock });
    const file = storeFile(folder, service);
    try {
      const store = await open(service, {
        file,
        barrier,
        clock,
        projections: PROJECTIONS[service],
        cacheBytes,
        onLost: (error) => onLost(service, error, file),
      });
      opened[service] = { store, barrier };
    } catch (cause) {
      await closeStores(opened).catch(() => undefined);
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`${file}: ${reason}`, { cause });
    }
  }
  return opened as Stores;
};

/** The stores of a thread that were closed after a failed write, which only a restart of the process opens again. */
export const watchLosses = (
  logger: Logger,
): {
  readonly onLost: StoresOptions['onLost'];
  /** Undefined while there are none. */
  readonly restartReason: () => string | undefined;
} => {
  const lost = new Set<StoreService>();
  return {
    onLost: (service, err, file) => {
      lost.add(service);
      if (err !== undefined)
        logger.fatal(
          { err, service, file },
          'a write to the disk failed: the store is closed until Keelson is restarted',
        );
    },
    restartReason: () =>
      lost.size === 0
        ? undefined
        : `closed after a failed write to their files: ${[...lost].map((service) => `the ${service} store`).join(', ')}`,
  };
};
