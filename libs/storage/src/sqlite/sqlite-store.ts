import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import { requireFormat } from '../backend.ts';
import type { Barrier } from '../barrier/barrier.ts';
import { DEFAULT_CACHE_BYTES, shareCache } from '../cache-shares.ts';
import type { Projection } from '../projections/projection.ts';
import { RecordStore } from '../record-store.ts';
import type { Store } from '../store.ts';
import { Wakeup } from '../wal/wakeup.ts';
import { SqliteBackend, type SqliteBackendOptions } from './sqlite-backend.ts';
import { fromSqliteError } from './sqlite-errors.ts';
import { upgradeFormerLayout } from './sqlite-former-layout.ts';
import { FORMAT_WITHOUT_REDO_LOG, SQLITE_FORMAT, SQLITE_SCHEMA } from './sqlite-schema.ts';

const PAGE_BYTES = 4096;
const MAPPED_BYTES = 1_073_741_824;

export interface SqliteStoreOptions {
  readonly file: string;
  /** Whether a store is made where there is none; true if absent. */
  readonly mayCreate?: boolean;
  readonly barrier: Barrier;
  readonly clock?: Clock;
  readonly projections?: readonly Projection[];
  /** Memory for what the store remembers; 96 MiB. */
  readonly cacheBytes?: number;
  /** Records after which the indexes of the file catch up with them; 32,768. */
  readonly maxRecentRecords?: number;
  /** Of the redo log beside the file, after which it begins anew; 16 MiB. */
  readonly maxRedoBytes?: number;
  /**
   * Called once, when a write or flush of a file has failed: what the disk holds is unknown then, so every
   * operation fails with `storage.lost` until the store is opened again.
   */
  readonly onLost?: (error: Error, file: string) => void;
}

/**
 * Opens or creates the store in `file`, for this process alone. A file that is refused for what it holds
 * stays as it is. Files that are made have mode 0600.
 * @throws KeelsonError `storage.unavailable` (in use, cannot be opened), `storage.missing`,
 *   `storage.read_only`, `storage.corrupt`, `storage.full`, `storage.unknown_format`
 */
export const openSqliteStore = async (options: SqliteStoreOptions): Promise<Store> => {
  const {
    barrier,
    clock = systemClock,
    projections = [],
    cacheBytes = DEFAULT_CACHE_BYTES,
  } = options;
  const cache = shareCache(cacheBytes);
  const { file, mayCreate = true, maxRecentRecords, maxRedoBytes, onLost } = options;
  const pageCacheBytes = cache.pageBytes;
  prepareFile(file, mayCreate);
  const backend = await openBackend(
    { file, pageCacheBytes, projections, maxRecentRecords, maxRedoBytes, onLost },
    mayCreate,
  );
  return new RecordStore(
    { backend, barrier, clock, projections, cache, grown: new Wakeup() },
    backend.headSequence(),
  );
};

/** SQLite gives the logs beside a file the mode of the file. */
const prepareFile = (file: string, mayCreate: boolean): void => {
  requireWritable(dirname(file));
  if (existsSync(file)) requireWritable(file);
  else if (mayCreate) closeSync(openSync(file, 'a', 0o600));
  else throw new KeelsonError('storage.missing');
};

const openBackend = async (
  options: SqliteBackendOptions,
  mayCreate: boolean,
): Promise<SqliteBackend> => {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(options.file);
    // Exclusive: no second process can write behind the head this one keeps in memory.
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    requireKnownStore(database, mayCreate);
    database.exec(`
      PRAGMA page_size = ${PAGE_BYTES};
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = OFF;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA temp_store = MEMORY;
      PRAGMA cache_spill = OFF;
      PRAGMA mmap_size = ${MAPPED_BYTES}`);
    upgradeFormerLayout(database);
    // In one transaction: a crash leaves all tables or none.
    database.exec(`BEGIN IMMEDIATE; ${SQLITE_SCHEMA} COMMIT`);
    return await SqliteBackend.open(database, options);
  } catch (error) {
    if (database?.isOpen === true) database.close();
    throw fromSqliteError(error);
  }
};

/** Before anything is written, since the file may be something else or of another version of Keelson. */
const requireKnownStore = (database: DatabaseSync, mayCreate: boolean): void => {
  const columns = database.prepare("SELECT name FROM pragma_table_info('head')").all();
  if (columns.length === 0) {
    if (!mayCreate) throw new KeelsonError('storage.missing');
    return;
  }
  const format = columns.some(({ name }) => name === 'format')
    ? Number(database.prepare('SELECT format FROM head').get()?.['format'])
    : 1;
  if (format !== FORMAT_WITHOUT_REDO_LOG) requireFormat(format, SQLITE_FORMAT);
};

/** SQLite says of all of these only that it cannot open the file. */
const requireWritable = (path: string): void => {
  try {
    accessSync(path, constants.W_OK);
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw new KeelsonError(
      isMissing ? 'storage.unavailable' : 'storage.read_only',
      {},
      { cause: error },
    );
  }
};
