/** The stores of the services: one SQLite file each, made and opened together or not at all. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { hasCode } from '@keelson/errors';
import { createRegistry, type MetricsRegistry, registerStoreMetrics } from '@keelson/metrics';
import { PKI_PROJECTIONS } from '@keelson/pki-service';
import { VERSION } from '@keelson/runtime';
import {
  type Barrier,
  createBarrier,
  jsonRecords,
  openSqliteStore,
  type Projection,
  type Store,
} from '@keelson/storage';
import { WORKSPACE_PROJECTIONS } from '@keelson/workspace-service';
import type { DataFolder } from './data-folder.ts';
import { putBack, STORE_SERVICES, type StoreService, storeFile } from './first-start.ts';

export interface OpenStore {
  readonly store: Store;
  readonly barrier: Barrier;
}

export type Stores = Readonly<Record<StoreService, OpenStore>>;

export interface StoresOptions {
  readonly folder: DataFolder;
  /** Whether missing stores are created. */
  readonly mayCreate: boolean;
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
};

/** Identifier shared by all stores of one data folder and by no others. */
const origins = jsonRecords<{ readonly id: string }>('node/core/');
const ORIGIN_KEY = 'origin';

const originOf = async ({ store }: OpenStore): Promise<string | undefined> =>
  (await origins.find(store, ORIGIN_KEY))?.id;

/** Marks the stores of a first start as belonging together, even if an interrupted start has marked some. */
export const joinStores = async (stores: Stores): Promise<void> => {
  const id = (await originOf(stores.sys)) ?? randomUUID();
  for (const { store } of Object.values(stores))
    await store.transact((tx) => origins.write(tx, ORIGIN_KEY, { id }));
};

/** @throws Error naming a store that does not belong to the store of sys */
export const requireJoined = async (stores: Stores, folder: DataFolder): Promise<void> => {
  const id = await originOf(stores.sys);
  for (const service of STORE_SERVICES)
    if ((await originOf(stores[service])) !== id)
      throw new Error(
        `${storeFile(folder, service)} does not belong to ${storeFile(folder, 'sys')}: it is empty, or of another cluster. ${putBack('the one that was here')}`,
      );
};

/** The metrics of the process, with those of its stores. */
export const createStoresRegistry = (stores: Stores): MetricsRegistry => {
  const registry = createRegistry(VERSION);
  registerStoreMetrics(
    registry,
    Object.fromEntries(Object.entries(stores).map(([service, { store }]) => [service, store])),
  );
  return registry;
};

export const closeStores = async (stores: Partial<Stores>): Promise<void> => {
  for (const { store } of Object.values(stores)) await store.close();
};

/** @throws Error naming the file that cannot be used; those that were opened are closed again */
export const openStores = async (options: StoresOptions): Promise<Stores> => {
  const opened: Partial<Record<StoreService, OpenStore>> = {};
  for (const service of STORE_SERVICES) {
    try {
      opened[service] = await openStore(service, options);
    } catch (cause) {
      await closeStores(opened);
      const reason = cause instanceof Error ? cause.message : String(cause);
      const remedy = hasCode(cause, 'storage.corrupt') ? `. ${putBack('the file')}` : '';
      throw new Error(`${storeFile(options.folder, service)}: ${reason}${remedy}`, { cause });
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
    mayCreate,
    barrier,
    clock,
    projections: PROJECTIONS[service],
    cacheBytes,
    onLost: (error, file) => onLost(service, error, file),
  });
  return { store, barrier };
};
