/**
 * Which records lie in a Merkle subpage. Where a record lies is as good as random, so an index that is
 * kept with every commit has a page of its own to write for each record. This one is behind: records have
 * numbers in the order of their making, those up to `indexed_to` are in it, and what has come since is
 * added many at once, in the order of the subpages, or when it is asked for. See docs/decisions/0088.
 *
 * A number is used again only when the newest records were deleted; then what is indexed ends before it.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SubpageIndex } from '../merkle/record-digest.ts';

export const SUBPAGES_SCHEMA = `
CREATE TABLE IF NOT EXISTS subpage_record (
  subpage INTEGER NOT NULL,
  record INTEGER NOT NULL,
  PRIMARY KEY (subpage, record)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS subpage_progress (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  indexed_to INTEGER NOT NULL
);
-- Where a version that kept an index with every commit has written, ours is not whole.
DELETE FROM subpage_progress WHERE EXISTS (
  SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = 'record_subpage');
DROP INDEX IF EXISTS record_subpage;
INSERT OR IGNORE INTO subpage_progress (id, indexed_to) VALUES (1, 0)`;

/** Records of one step; the event loop is free between steps. */
const STEP_RECORDS = 2000;
/** Steps whose records are added together. */
const MAX_STEPS = 50;
const SUBPAGES = 65_536;

/** What is about to be added, in the order of the index. */
const STAGED_SCHEMA = `
CREATE TEMP TABLE IF NOT EXISTS subpage_staged (
  subpage INTEGER NOT NULL,
  record INTEGER NOT NULL,
  PRIMARY KEY (subpage, record)
) WITHOUT ROWID`;

export class SqliteSubpages {
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #stepRecords: number;
  /** Records up to this number are in the index. */
  #indexedTo = 0;
  /** No record has a greater number. */
  #newest = 0;
  /** Of the additions that are under way. */
  #addingTo = 0;

  constructor(database: DatabaseSync, stepRecords = STEP_RECORDS) {
    database.exec(STAGED_SCHEMA);
    this.#statements = prepareStatements(database);
    this.#stepRecords = stepRecords;
    this.reload();
  }

  /** To be called after a transaction was rolled back. */
  reload(): void {
    this.#indexedTo = Number(this.#statements.loadProgress.get()?.['indexed_to']);
    this.#newest = this.#greatest();
  }

  /** Numbers that may be of records that are not in the index. */
  get behind(): number {
    return this.#newest - this.#indexedTo;
  }

  /** Within the transaction that made records. */
  noteNew(): void {
    this.#newest = this.#greatest();
  }

  /** Within the transaction that deletes records, before it makes others. */
  deleteRecords(paths: readonly string[]): void {
    if (paths.length === 0) return;
    const { deleteRecord, remove } = this.#statements;
    for (const path of paths) {
      const deleted = deleteRecord.get(path) as
        | { subpage: number | null; record: number }
        | undefined;
      if (deleted !== undefined && deleted.subpage !== null) {
        remove.run(deleted.subpage, deleted.record);
      }
    }
    const greatest = this.#greatest();
    this.#addingTo = Math.min(this.#addingTo, greatest);
    if (greatest < this.#indexedTo) this.#setIndexedTo(greatest);
  }

  /** A record whose place was put right. */
  restored(path: string): void {
    this.#statements.addRestored.run(path);
  }

  /** Adds what comes next, some records of it; within a transaction. */
  addNext(): void {
    // No number above the greatest is passed: a record that gets it later must be found.
    this.#newest = this.#greatest();
    const to = Math.min(this.#indexedTo + this.#stepRecords, this.#newest);
    this.#statements.addBetween.run(this.#indexedTo, to);
    this.#setIndexedTo(to);
  }

  /** Adds what comes next, much of it, in steps that each run within a transaction of their own. */
  *additions(): Generator<() => void> {
    const { clearStaged, stage, addStaged } = this.#statements;
    const from = this.#indexedTo;
    const to = Math.min(this.#newest, from + MAX_STEPS * this.#stepRecords);
    this.#addingTo = to;
    yield () => clearStaged.run();
    for (let at = from; at < to; at += this.#stepRecords)
      yield () => stage.run(at, Math.min(at + this.#stepRecords, to));
    // As many parts of the index as there were steps: where a record lies is as good as random.
    const width = Math.ceil((SUBPAGES * this.#stepRecords) / Math.max(to - from, 1));
    for (let at = 0; at < SUBPAGES; at += width) yield () => addStaged.run(at, at + width);
    yield () => {
      clearStaged.run();
      const done = Math.min(this.#addingTo, this.#greatest());
      if (done > this.#indexedTo) this.#setIndexedTo(done);
    };
  }

  /** Paths in byte order, when nothing is behind. */
  list(subpage: SubpageIndex): readonly string[] {
    return this.#statements.list.all(subpage, subpage).map((row) => row['path'] as string);
  }

  #greatest(): number {
    return Number(this.#statements.greatest.get()?.['record'] ?? 0);
  }

  #setIndexedTo(record: number): void {
    this.#statements.saveProgress.run(record);
    this.#indexedTo = record;
  }
}

const prepareStatements = (database: DatabaseSync) =>
  ({
    loadProgress: database.prepare('SELECT indexed_to FROM subpage_progress'),
    saveProgress: database.prepare('UPDATE subpage_progress SET indexed_to = ?'),
    greatest: database.prepare('SELECT max(rowid) AS record FROM record'),
    deleteRecord: database.prepare(
      'DELETE FROM record WHERE path = ? RETURNING rowid AS record, subpage',
    ),
    clearStaged: database.prepare('DELETE FROM subpage_staged'),
    stage: database.prepare(
      `INSERT OR IGNORE INTO subpage_staged (subpage, record)
       SELECT subpage, rowid FROM record
       WHERE rowid > ? AND rowid <= ? AND subpage IS NOT NULL`,
    ),
    addStaged: database.prepare(
      `INSERT OR IGNORE INTO subpage_record (subpage, record)
       SELECT subpage, record FROM subpage_staged
       WHERE subpage >= ? AND subpage < ? ORDER BY subpage, record`,
    ),
    remove: database.prepare('DELETE FROM subpage_record WHERE subpage = ? AND record = ?'),
    addRestored: database.prepare(
      `INSERT OR IGNORE INTO subpage_record (subpage, record)
       SELECT subpage, rowid FROM record WHERE path = ? AND subpage IS NOT NULL`,
    ),
    addBetween: database.prepare(
      `INSERT OR IGNORE INTO subpage_record (subpage, record)
       SELECT subpage, rowid FROM record
       WHERE rowid > ? AND rowid <= ? AND subpage IS NOT NULL ORDER BY subpage`,
    ),
    // A number may stand under a subpage whose record was deleted while it was added.
    list: database.prepare(
      `SELECT record.path FROM subpage_record
       JOIN record ON record.rowid = subpage_record.record
       WHERE subpage_record.subpage = ? AND record.subpage = ? ORDER BY record.path`,
    ),
  }) satisfies Record<string, StatementSync>;
