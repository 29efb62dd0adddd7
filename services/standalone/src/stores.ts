/** The stores of the services: one SQLite file each, opened together or not at all. */
import type { Clock } from '@keelson/clock';
import { PKI_PROJECTIONS } from '@keelson/pki-service';
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

export interface OpenStore {
  readonly store: Store;
  readonly barrier: Barrier;
}

export type Stores = Readonly<Record<StoreService, OpenStore>>;

export interface StoresOptions {
  readonly folder: DataFolder;
  /** Whether stores that are absent are made. */
  readonly mayCreate: boolean;
  readonly clock: Clock;
  /** Memory of each, in bytes. */
  readonly cacheBytes: number;
  /** Told once of a store whose files could not be written: it serves nothing until it is opened again. */
  readonly onLost: (service: StoreService, error: Error, file: string) => void;
}

const PROJECTIONS: Readonly<Record<StoreService, readonly Projection[]>> = {
  sys: [],
  pki: PKI_PROJECTIONS,
  workspace: WORKSPACE_PROJECTIONS,
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
    mayCreate,
    barrier,
    clock,
    projections: PROJECTIONS[service],
    cacheBytes,
    onLost: (error, file) => onLost(service, error, file),
  });
  return { store, barrier };
};
