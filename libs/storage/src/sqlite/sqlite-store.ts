import { accessSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '@keelson/clock';
import { hasCode, KeelsonError } from '@keelson/errors';
import type { Barrier } from '../barrier/barrier.ts';
import type { RecordKind } from '../collections/codec.ts';
import { RecordVersions } from '../collections/record-versions.ts';
import { declaredKinds } from '../collections/table.ts';
import type { Projection } from '../projections/projection.ts';
import { DEFAULT_CACHE_BYTES, shareCache } from '../reading/cache-shares.ts';
import { RecordStore } from '../record-store.ts';
import type { Store } from '../store.ts';
import { StoreFaults } from '../store-faults.ts';
import { LogGrowth } from '../wal/log-growth.ts';
import { examineSqliteStore, hasJournal } from './examine-store.ts';
import { type FileLock, takeFileLock } from './file-lock.ts';
import { createStoreMemory, SharedHead, type StoreMemory } from './shared-head.ts';
import { SqliteBackend } from './sqlite-backend.ts';
import { fromSqliteError } from './sqlite-errors.ts';
import { CONNECTION_PRAGMAS, LATER_COLUMNS, SQLITE_SCHEMA } from './sqlite-schema.ts';
import { SqliteWriter } from './sqlite-writer.ts';

export interface SqliteStoreOptions {
  readonly file: string;
  /** Whether to create the store if it does not exist; true if absent. */
  readonly mayCreate?: boolean;
  readonly barrier: Barrier;
  readonly clock?: Clock;
  readonly projections?: readonly Projection[];
  /** Kinds of records that this process knows; all that its modules declare by default. */
  readonly kinds?: readonly RecordKind[];
  /** Memory for the caches of the store; 40 MiB by default. */
  readonly cacheBytes?: number;
  /**
   * Called once, when a write or flush of the file has failed: what the disk holds is unknown then, so
   * every write fails with `storage.lost` until the store is opened again. Without the error, if it is one of another
   * thread.
   */
  readonly onLost?: (error: Error | undefined, file: string) => void;
  /** Given to `joinSqliteStore` by other threads of this process that have the store open at the same time. */
  readonly memory?: StoreMemory | undefined;
}

/**
 * Opens or creates the store in `file`, for this process alone. A file that is refused for its content
 * is left unchanged. New files have mode 0600.
 * @throws KeelsonError `storage.unavailable` (in use, cannot be opened), `storage.missing`,
 *   `storage.read_only`, `storage.corrupt`, `storage.full`, `storage.unknown_format`,
 *   `storage.superseded`
 */
export const openSqliteStore = async (options: SqliteStoreOptions): Promise<Store> =>
  createStore(options, await openBackend(options));

/**
 * Opens a store that another thread of this process has open with the same memory. That thread opens it first and
 * closes it last, and this one writes by the thread of that one (`writeThrough`).
 * @throws KeelsonError `storage.unavailable`, `storage.corrupt`
 */
export const joinSqliteStore = async (
  options: Omit<SqliteStoreOptions, 'mayCreate'> & { readonly memory: StoreMemory },
): Promise<Store> => createStore(options, joinBackend(options));

const createStore = (
  {
    barrier,
    clock = systemClock,
    projections = [],
    cacheBytes = DEFAULT_CACHE_BYTES,
    memory,
  }: SqliteStoreOptions,
  backend: SqliteBackend,
): Store => {
  const grown = new LogGrowth();
  if (memory !== undefined) backend.onCommitElsewhere(() => grown.wake());
  return new RecordStore(
    { backend, barrier, clock, projections, cache: shareCache(cacheBytes), grown },
    backend.headSequence(),
  );
};

const openBackend = async ({
  file,
  mayCreate = true,
  kinds = declaredKinds(),
  onLost,
  memory,
}: SqliteStoreOptions): Promise<SqliteBackend> => {
  prepareFile(file, mayCreate);
  let lock: FileLock | undefined;
  let database: DatabaseSync | undefined;
  try {
    lock = lockStore(file);
    requireKnownStore(file, mayCreate, kinds);
    database = new DatabaseSync(file);
    database.exec(`PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; ${CONNECTION_PRAGMAS}`);
    // In one transaction: a crash leaves all tables or none.
    database.exec(`BEGIN IMMEDIATE; ${SQLITE_SCHEMA} COMMIT`);
    addLaterColumns(database);
    const versions = new RecordVersions(kinds);
    writeFirstVersions(database, versions);
    const parts = connect({ file, database, onLost, memory });
    // A disk that is full already is reported before the first write.
    await parts.writer.tryDisk().catch(() => undefined);
    return new SqliteBackend({ ...parts, lock, versions });
  } catch (error) {
    database?.close();
    lock?.close();
    throw fromSqliteError(error);
  }
};

const joinBackend = ({
  file,
  kinds = declaredKinds(),
  onLost,
  memory,
}: SqliteStoreOptions & { readonly memory: StoreMemory }): SqliteBackend => {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    database.exec(CONNECTION_PRAGMAS);
    const parts = connect({ file, database, onLost, memory });
    return new SqliteBackend({ ...parts, lock: undefined, versions: new RecordVersions(kinds) });
  } catch (error) {
    database?.close();
    throw fromSqliteError(error);
  }
};

interface Connected {
  readonly file: string;
  /** With the schema. */
  readonly database: DatabaseSync;
  readonly onLost: SqliteStoreOptions['onLost'];
  /** Absent if no other thread opens the file. */
  readonly memory: StoreMemory | undefined;
}

/** The parts of a backend whose connection only reads from now on. */
const connect = ({ file, database, onLost, memory }: Connected) => {
  database.exec('PRAGMA query_only = ON');
  const head = new SharedHead(memory ?? createStoreMemory(), memory !== undefined);
  const faults = new StoreFaults(head.faults);
  const writer = new SqliteWriter({
    file,
    head,
    faults,
    onLost: (error) => onLost?.(error, file),
  });
  return { file, database, head, faults, writer };
};

const addLaterColumns = (database: DatabaseSync): void => {
  const columns = database.prepare("SELECT name FROM pragma_table_info('head')").all();
  for (const added of LATER_COLUMNS)
    if (!columns.some(({ name }) => name === added))
      database.exec(`ALTER TABLE head ADD COLUMN ${added} TEXT NOT NULL DEFAULT ''`);
};

/** A new store has no records of older versions, and no process that knows only them. */
const writeFirstVersions = (database: DatabaseSync, { own }: RecordVersions): void => {
  const isNew = database
    .prepare("SELECT 1 FROM head WHERE sequence = 0 AND record_versions = ''")
    .get();
  if (isNew !== undefined) database.prepare('UPDATE head SET record_versions = ?').run(own);
};

/** SQLite creates its other files with the mode of the database. */
const prepareFile = (file: string, mayCreate: boolean): void => {
  requireWritable(dirname(file));
  if (existsSync(file)) requireWritable(file);
  else if (mayCreate) closeSync(openSync(file, 'a', 0o600));
  else throw new KeelsonError('storage.missing');
};

/**
 * Keeps other processes out, because the head of the store is kept in memory. SQLite's exclusive mode
 * would keep out this process's second connection too.
 * @throws KeelsonError `storage.unavailable`
 */
const lockStore = (file: string): FileLock => {
  const lock = takeFileLock(`${file}-lock`);
  if (lock !== undefined) return lock;
  throw new KeelsonError('storage.unavailable', { reason: 'another process has the file open' });
};

/**
 * Looks at the file before a connection that may write is opened. A creation that was interrupted is
 * completed instead: SQLite first needs its journal.
 */
const requireKnownStore = (
  file: string,
  mayCreate: boolean,
  kinds: readonly RecordKind[],
): void => {
  if (mayCreate && (statSync(file).size === 0 || hasJournal(file))) return;
  try {
    examineSqliteStore(file, { kinds }).close();
  } catch (error) {
    if (!mayCreate || !hasCode(error, 'storage.missing')) throw error;
  }
};

/** SQLite reports only that it cannot open the file in all of these cases. */
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
