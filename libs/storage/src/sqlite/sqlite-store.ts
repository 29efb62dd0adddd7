import { accessSync, constants, existsSync } from 'node:fs';
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
  readonly barrier: Barrier;
  readonly clock?: Clock;
  readonly projections?: readonly Projection[];
  /** Memory for what the store remembers; 96 MiB. */
  readonly cacheBytes?: number;
  /** Records after which the indexes of the file catch up with them; 32,768. */
  readonly maxRecentRecords?: number;
  /** Of the redo log beside the file, after which it begins anew; 16 MiB. */
  readonly maxRedoBytes?: number;
}

/**
 * Opens or creates the store in `file`, for this process alone.
 * @throws KeelsonError `storage.unavailable` (in use, cannot be opened), `storage.read_only`,
 *   `storage.corrupt`, `storage.full`, `storage.unknown_format`
 */
export const openSqliteStore = async (options: SqliteStoreOptions): Promise<Store> => {
  const {
    barrier,
    clock = systemClock,
    projections = [],
    cacheBytes = DEFAULT_CACHE_BYTES,
  } = options;
  const cache = shareCache(cacheBytes);
  const { file, maxRecentRecords, maxRedoBytes } = options;
  const pageCacheBytes = cache.pageBytes;
  const backend = await openBackend({
    file,
    pageCacheBytes,
    projections,
    maxRecentRecords,
    maxRedoBytes,
  });
  return new RecordStore(
    { backend, barrier, clock, projections, cache, grown: new Wakeup() },
    backend.headSequence(),
  );
};

const openBackend = async (options: SqliteBackendOptions): Promise<SqliteBackend> => {
  const { file } = options;
  requireWritable(dirname(file));
  if (existsSync(file)) requireWritable(file);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    // Exclusive: no second process can write behind the head this one keeps in memory.
    database.exec(`
      PRAGMA page_size = ${PAGE_BYTES};
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = OFF;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA temp_store = MEMORY;
      PRAGMA cache_spill = OFF;
      PRAGMA mmap_size = ${MAPPED_BYTES}`);
    requireKnownFormat(database);
    upgradeFormerLayout(database);
    database.exec(SQLITE_SCHEMA);
    return await SqliteBackend.open(database, options);
  } catch (error) {
    if (database?.isOpen === true) database.close();
    throw fromSqliteError(error);
  }
};

/** Before anything is written to the tables, which may be those of another version of Keelson. */
const requireKnownFormat = (database: DatabaseSync): void => {
  const columns = database.prepare("SELECT name FROM pragma_table_info('head')").all();
  if (columns.length === 0) return;
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
