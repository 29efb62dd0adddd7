/** The stores of the services: one SQLite file each, made and opened together or not at all. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
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
  openSqliteStore,
  type Projection,
  type Store,
} from '@keelson/storage';
import { WORKSPACE_PROJECTIONS } from '@keelson/workspace-service';
import type { DataFolder } from './data-folder.ts';
import { STORE_SERVICES, type StoreService, storeFile } from './first-start.ts';
import { originRecord } from './store-origin.ts';

export interface OpenStore {
  readonly store: Store;
  readonly barrier: Barrier;
}

export type Stores = Readonly<Record<StoreService, OpenStore>>;

export interface StoresOptions {
  readonly folder: DataFolder;
  /** The stores that are created if they are missing. */
  readonly mayCreate: readonly StoreService[];
  readonly clock: Clock;
  /** Cache memory of each store, in bytes. */
  readonly cacheBytes: number;
  /**
   * Called once for a store whose files could not be written; the store serves nothing until it is
   * reopened.
   */
  readonly onLost: (service: StoreService, error: Error, file: string) => void;
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

/** The metrics of the process, with those of its stores and disks. @param folders by purpose */
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
export const openStores = async (options: StoresOptions): Promise<Stores> => {
  const opened: Partial<Record<StoreService, OpenStore>> = {};
  for (const service of STORE_SERVICES) {
    try {
      opened[service] = await openStore(service, options);
    } catch (cause) {
      await closeStores(opened).catch(() => undefined);
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`${storeFile(options.folder, service)}: ${reason}`, { cause });
    }
  }
  return opened as Stores;
};

const openStore = async (
  service: StoreService,
  { folder, mayCreate, clock, cacheBytes, onLost }: StoresOptions,
): Promise<OpenStore> => {
  const barrier = createBarrier({ clock });
  const store = await openSqliteStore({
    file: storeFile(folder, service),
    mayCreate: mayCreate.includes(service),
    barrier,
    clock,
    projections: PROJECTIONS[service],
    cacheBytes,
    onLost: (error, file) => onLost(service, error, file),
  });
  return { store, barrier };
};
