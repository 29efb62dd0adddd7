/**
 * Examines the file of a store and changes neither it nor its logs. An ordinary connection changes them: when
 * the last one is closed, SQLite copies the write-ahead log into the main file, whatever that file is, and
 * removes the log.
 */
import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { isDamage, KeelsonError } from '@keelson/errors';
import { requireFormat } from '../backend.ts';
import { createBarrier } from '../barrier/barrier.ts';
import { KEYRING_PATH } from '../barrier/keyring.ts';
import type { RecordKind } from '../collections/codec.ts';
import { RecordVersions } from '../collections/record-versions.ts';
import { declaredKinds } from '../collections/table.ts';
import { ParsedRecord } from '../records/parsed-record.ts';
import { rangeBelow, scopeOf } from '../records/record-path.ts';
import type { Reads } from '../store.ts';
import { holdsCommit } from './log-file.ts';
import { fromSqliteError, guarded } from './sqlite-errors.ts';
import { SqliteRecords } from './sqlite-records.ts';
import { SQLITE_FORMAT } from './sqlite-schema.ts';

/** A store that is not open; without its key, only records that are not encrypted can be read. */
export interface ExaminedStore extends Pick<Reads, 'read' | 'readAs'> {
  /**
   * The encrypted records.
   * @param rootKey of the barrier of the store, which is copied
   * @throws KeelsonError `barrier.wrong_root_key`
   */
  unlock(rootKey: Uint8Array): Pick<Reads, 'scanAs'>;
  /** Newest commit. */
  readonly sequence: number;
  /** Number of staged records of a restoration that is unfinished or not yet removed. */
  readonly stagedRecords: number;
  /** Reads the whole file. @returns the first damage that SQLite finds; undefined if the file is sound */
  findDamage(): string | undefined;
  close(): void;
}

export interface Examination {
  /**
   * Whether a process has the store open. Its locks and its index of the log are then used, without which the
   * file may change between two reads.
   */
  readonly isInUse?: boolean;
  /**
   * Kinds of records that this process knows: a store with later versions of them is refused. All that its modules
   * declare by default.
   */
  readonly kinds?: readonly RecordKind[];
}

const isFilled = (file: string): boolean => existsSync(file) && statSync(file).size > 0;

/** Whether SQLite has left a rollback journal, as it does only when it is stopped while it creates the file. */
export const hasJournal = (file: string): boolean => isFilled(`${file}-journal`);

/**
 * The caller closes what is returned.
 * @throws KeelsonError `storage.missing`, `storage.unknown_format`, `storage.superseded`, `storage.corrupt`,
 *   `storage.unavailable`
 */
export const examineSqliteStore = (
  file: string,
  { isInUse = false, kinds = declaredKinds() }: Examination = {},
): ExaminedStore => {
  if (!isFilled(file)) throw new KeelsonError('storage.missing');
  let database: DatabaseSync | undefined;
  try {
    database = isInUse ? new DatabaseSync(file, { readOnly: true }) : connectUnnoticed(file);
    requireKnownStore(database);
    requireTables(database);
    requireKnownVersions(database, kinds);
    return examined(database);
  } catch (error) {
    database?.close();
    throw hasJournal(file) && Reflect.get(error as object, 'errcode') === READONLY_ROLLBACK
      ? new KeelsonError(
          'storage.corrupt',
          { reason: `${file}-journal lies beside it, which is not of Keelson; move it away` },
          { cause: error },
        )
      : fromSqliteError(error);
  }
};

const READONLY_ROLLBACK = 776;

/**
 * Without commits in a log the main file is complete, and is opened as one that never changes. With a log, its
 * index is kept in memory and no lock is taken, since both need files.
 */
const connectUnnoticed = (file: string): DatabaseSync => {
  const url = pathToFileURL(file);
  const log = `${file}-wal`;
  if (!isFilled(log) || !holdsCommit(log)) url.searchParams.set('immutable', '1');
  else url.searchParams.set('vfs', 'unix-none');
  url.searchParams.set('mode', 'ro');
  const database = new DatabaseSync(url, { readOnly: true });
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  return database;
};

/** The file may be something else, or of another version of Keelson. */
const requireKnownStore = (database: DatabaseSync): void => {
  const columns = database.prepare("SELECT name FROM pragma_table_info('head')").all();
  if (columns.length === 0) throw new KeelsonError('storage.missing');
  const head = columns.some(({ name }) => name === 'format')
    ? database.prepare('SELECT format FROM head').get()
    : undefined;
  requireFormat(Number(head?.['format']), SQLITE_FORMAT);
};

/** Reads the first page of every table itself, since a file that was cut off still has its list of tables. */
const requireTables = (database: DatabaseSync): void => {
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")
    .all();
  for (const { name } of tables)
    database
      .prepare(`SELECT 1 FROM "${String(name).replaceAll('"', '""')}" NOT INDEXED LIMIT 1`)
      .get();
};

const requireKnownVersions = (database: DatabaseSync, kinds: readonly RecordKind[]): void => {
  // A file of an older version may lack the column.
  const head = database.prepare('SELECT * FROM head').get();
  const versions = new RecordVersions(kinds);
  versions.see(String(head?.['record_versions'] ?? ''));
  versions.requireKnown();
};

const examined = (database: DatabaseSync): ExaminedStore => {
  const records = new SqliteRecords(database);
  const head = database.prepare('SELECT sequence FROM head').get();
  const staged = database.prepare('SELECT count(*) AS records FROM staged_record').get();
  const read = async (path: string): Promise<ParsedRecord | undefined> => {
    if (scopeOf(path) !== 'node') throw new KeelsonError('storage.sealed');
    const row = guarded(() => records.findRow(path));
    return row && new ParsedRecord(path, row.stored, row.version);
  };
  return {
    sequence: Number(head?.['sequence']),
    stagedRecords: Number(staged?.['records']),
    read,
    readAs: async (path, decoder) => (await read(path))?.as(decoder),
    unlock: (rootKey) => {
      const barrier = createBarrier();
      const keyring = guarded(() => records.findRow(KEYRING_PATH));
      if (keyring === undefined)
        throw new KeelsonError('storage.corrupt', { reason: `there is no ${KEYRING_PATH}` });
      barrier.unseal(rootKey, keyring.stored);
      return {
        scanAs: async (prefix, decoder, { after, limit = Infinity, onDamaged } = {}) => {
          const rows = guarded(() => records.scanRows(rangeBelow(prefix, after), limit));
          return rows.flatMap(({ path, stored }) => {
            try {
              return [[path, decoder.decode(path, barrier.decrypt(path, stored))]];
            } catch (error) {
              if (onDamaged === undefined || !isDamage(error)) throw error;
              onDamaged(path);
              return [];
            }
          });
        },
      };
    },
    findDamage: () => {
      const found = guarded(() => database.prepare('PRAGMA quick_check(1)').get());
      return found?.['quick_check'] === 'ok' ? undefined : String(found?.['quick_check']);
    },
    close: () => database.close(),
  };
};
