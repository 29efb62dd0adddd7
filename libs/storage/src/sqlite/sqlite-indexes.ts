/**
 * Which record has a path, and which lie in a Merkle subpage. Where a record comes in either order is as
 * good as random, so an index that is kept with every commit has a page of its own to write for each
 * record. These are behind: records have numbers in the order of their making, those up to `indexed_to`
 * are in both, and what has come since is added many at once, in the order of each index. Until then its
 * paths are in a table in memory: every path is there or in `record_path`, never in both. Their subpages
 * come into a table in memory when one is listed or they are about to be added. See docs/decisions/0088,
 * 0096 and 0098.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SubpageIndex } from '../merkle/record-digest.ts';
import { rangeBelow } from '../record-path.ts';

export const RECORD_PATH_TABLE = `record_path (
  path TEXT NOT NULL PRIMARY KEY,
  record INTEGER NOT NULL
) WITHOUT ROWID`;

export const INDEXES_SCHEMA = `
CREATE TABLE IF NOT EXISTS ${RECORD_PATH_TABLE};
CREATE TABLE IF NOT EXISTS subpage_record (
  subpage INTEGER NOT NULL,
  record INTEGER NOT NULL,
  PRIMARY KEY (subpage, record)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS index_progress (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  indexed_to INTEGER NOT NULL
);
INSERT OR IGNORE INTO index_progress (id, indexed_to) VALUES (1, 0)`;

/** What is in memory until `record_path` has it, and `subpage_record`. */
const MEMORY_SCHEMA = `
CREATE TEMP TABLE recent_path (
  path TEXT NOT NULL PRIMARY KEY,
  record INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TEMP TABLE subpage_staged (
  subpage INTEGER NOT NULL,
  record INTEGER NOT NULL,
  PRIMARY KEY (subpage, record)
) WITHOUT ROWID`;

/** In SQL, the number of the record whose path is the first parameter. */
export const NUMBER_OF_PATH = `coalesce(
  (SELECT record FROM recent_path WHERE path = ?1), (SELECT record FROM record_path WHERE path = ?1))`;

/** More at once write fewer pages of the indexes, and take longer to load. */
const MAX_RECENT_RECORDS = 32_768;
/** Or characters of their paths, where these are long. */
const MAX_PATH_CHARACTERS = 4 * 1024 * 1024;
/** Records of one step; the event loop is free between steps. */
const STEP_RECORDS = 2000;
/** Steps whose records are added together, at most, unless more are in memory. */
const MAX_STEPS = 50;
const SUBPAGES = 65_536;
/** Past every path. */
const END = rangeBelow('').to;

export interface SqliteIndexesOptions {
  /** Records after which the indexes catch up; 32,768. */
  readonly maxRecentRecords?: number | undefined;
  /** 2,000. */
  readonly stepRecords?: number;
}

export class SqliteIndexes {
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #maxRecentRecords: number;
  readonly #stepRecords: number;
  /** Records up to this number are in the indexes. */
  #indexedTo: number;
  /** The subpages of those after it up to this number are in memory, or in the index already. */
  #stagedTo: number;
  /** No record has a greater number, or had one since the file was opened. */
  #newest: number;
  #pathCharacters: number;

  /** @param database with the schema, opened just now */
  constructor(
    database: DatabaseSync,
    { maxRecentRecords = MAX_RECENT_RECORDS, stepRecords = STEP_RECORDS }: SqliteIndexesOptions,
  ) {
    database.exec(MEMORY_SCHEMA);
    this.#statements = prepareStatements(database);
    this.#maxRecentRecords = maxRecentRecords;
    this.#stepRecords = stepRecords;
    this.#indexedTo = this.#loadIndexedTo();
    this.#stagedTo = this.#indexedTo;
    this.#statements.loadRecent.run(this.#indexedTo);
    const { newest, characters } = this.#statements.measure.get() as Record<string, number>;
    this.#newest = Math.max(newest ?? 0, this.#indexedTo);
    this.#pathCharacters = characters ?? 0;
  }

  /** To be called after a transaction was rolled back. */
  reload(): void {
    // The table in memory was rolled back with it; numbers that were given are not given again.
    this.#indexedTo = this.#loadIndexedTo();
    this.#stagedTo = this.#indexedTo;
  }

  get indexedTo(): number {
    return this.#indexedTo;
  }

  /** How far behind they are, as a part of how far they should be at most. */
  get lag(): number {
    const records = this.#newest - this.#indexedTo;
    return Math.max(records / this.#maxRecentRecords, this.#pathCharacters / MAX_PATH_CHARACTERS);
  }

  find(path: string): number | undefined {
    return (this.#statements.find.get(path)?.['number'] as number | null) ?? undefined;
  }

  /** Within the transaction that makes the record. @returns its number */
  add(path: string): number {
    this.#newest += 1;
    this.#pathCharacters += path.length;
    this.#statements.addRecent.run(path, this.#newest);
    return this.#newest;
  }

  /** Within the transaction that deletes the record. */
  remove(path: string, number: number, subpage: SubpageIndex | null): void {
    const { removeRecent, removePath, removeStaged, removeSubpage } = this.#statements;
    if (removeRecent.run(path).changes === 0) removePath.run(path);
    if (subpage === null) return;
    removeStaged.run(subpage, number);
    removeSubpage.run(subpage, number);
  }

  /** A record whose subpage was put right. */
  restored(number: number): void {
    this.#statements.addRestored.run(number);
  }

  /** Adds what comes next, in steps that each run within a transaction of their own. */
  *additions(): Generator<() => void> {
    const to = Math.min(this.#newest, this.#indexedTo + MAX_STEPS * this.#stepRecords);
    yield* this.staging(to);
    yield* this.#subpageAdditions();
    yield* this.#pathAdditions();
    yield () => {
      this.#statements.saveProgress.run(to);
      this.#indexedTo = to;
      this.#stagedTo = Math.max(this.#stagedTo, to);
    };
  }

  /** What `list` needs, in steps as those of `additions`; they write nothing to the file. */
  *staging(to = this.#newest): Generator<() => void> {
    while (this.#stagedTo < to)
      yield () => {
        const stepEnd = Math.min(this.#stagedTo + this.#stepRecords, this.#newest);
        this.#statements.stage.run(this.#stagedTo, stepEnd);
        this.#stagedTo = stepEnd;
      };
  }

  *#subpageAdditions(): Generator<() => void> {
    const { addStaged, clearStaged } = this.#statements;
    // As many parts of the index as there are steps of records: where one lies is as good as random.
    const staged = Math.max(this.#stagedTo - this.#indexedTo, 1);
    const width = Math.ceil((SUBPAGES * this.#stepRecords) / staged);
    for (let at = 0; at < SUBPAGES; at += width)
      yield () => {
        addStaged.run(at, at + width);
        clearStaged.run(at, at + width);
      };
  }

  /** All that are in memory, and of what comes meanwhile what is still to be passed. */
  *#pathAdditions(): Generator<() => void> {
    const { findStepEnd, addPaths, removePaths } = this.#statements;
    this.#pathCharacters = 0;
    let at = '';
    while (at !== END) {
      const from = at;
      yield () => {
        at = (findStepEnd.get(from, this.#stepRecords)?.['path'] as string | undefined) ?? END;
        addPaths.run(from, at);
        removePaths.run(from, at);
      };
    }
  }

  /** Paths in byte order, of the records that were made before the last staging was gone through. */
  list(subpage: SubpageIndex): readonly string[] {
    return this.#statements.list.all(subpage).map((row) => row['path'] as string);
  }

  #loadIndexedTo(): number {
    return Number(this.#statements.loadProgress.get()?.['indexed_to']);
  }
}

const prepareStatements = (database: DatabaseSync) =>
  ({
    loadProgress: database.prepare('SELECT indexed_to FROM index_progress'),
    saveProgress: database.prepare('UPDATE index_progress SET indexed_to = ?'),
    // Some are in the index already when it was catching up at the end.
    loadRecent: database.prepare(
      `INSERT INTO recent_path (path, record)
       SELECT path, number FROM record
       WHERE number > ?
         AND NOT EXISTS (SELECT 1 FROM record_path WHERE record_path.path = record.path)
       ORDER BY path`,
    ),
    measure: database.prepare(
      `SELECT (SELECT max(number) FROM record) AS newest,
              (SELECT sum(length(path)) FROM recent_path) AS characters`,
    ),
    find: database.prepare(`SELECT ${NUMBER_OF_PATH} AS number`),
    addRecent: database.prepare('INSERT INTO recent_path (path, record) VALUES (?, ?)'),
    removeRecent: database.prepare('DELETE FROM recent_path WHERE path = ?'),
    removePath: database.prepare('DELETE FROM record_path WHERE path = ?'),
    removeSubpage: database.prepare('DELETE FROM subpage_record WHERE subpage = ? AND record = ?'),
    clearStaged: database.prepare('DELETE FROM subpage_staged WHERE subpage >= ? AND subpage < ?'),
    removeStaged: database.prepare('DELETE FROM subpage_staged WHERE subpage = ? AND record = ?'),
    stage: database.prepare(
      `INSERT OR IGNORE INTO subpage_staged (subpage, record)
       SELECT subpage, number FROM record
       WHERE number > ? AND number <= ? AND subpage IS NOT NULL`,
    ),
    addStaged: database.prepare(
      `INSERT OR IGNORE INTO subpage_record (subpage, record)
       SELECT subpage, record FROM subpage_staged
       WHERE subpage >= ? AND subpage < ? ORDER BY subpage, record`,
    ),
    findStepEnd: database.prepare(
      'SELECT path FROM recent_path WHERE path >= ? ORDER BY path LIMIT 1 OFFSET ?',
    ),
    addPaths: database.prepare(
      `INSERT INTO record_path (path, record)
       SELECT path, record FROM recent_path WHERE path >= ? AND path < ? ORDER BY path`,
    ),
    removePaths: database.prepare('DELETE FROM recent_path WHERE path >= ? AND path < ?'),
    addRestored: database.prepare(
      `INSERT OR IGNORE INTO subpage_record (subpage, record)
       SELECT subpage, number FROM record WHERE number = ? AND subpage IS NOT NULL`,
    ),
    // A number may stand under a subpage its record is not in: that was put right, or deleted while it was
    // added and its number given again.
    list: database.prepare(
      `SELECT record.path FROM (
         SELECT record FROM subpage_record WHERE subpage = ?1
         UNION SELECT record FROM subpage_staged WHERE subpage = ?1
       ) AS listed
       JOIN record ON record.number = listed.record
       WHERE record.subpage = ?1 ORDER BY record.path`,
    ),
  }) satisfies Record<string, StatementSync>;
