/** The records of a store's file, by their paths. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CheckedRow, PutRow, RowChange, StoredRow } from '../backend.ts';
import type { PathRange } from '../record-path.ts';
import { NUMBER_OF_PATH, SqliteIndexes, type SqliteIndexesOptions } from './sqlite-indexes.ts';

/** SQLite's "no limit". */
const toLimit = (limit: number): number => (Number.isFinite(limit) ? limit : -1);

export class SqliteRecords {
  readonly indexes: SqliteIndexes;
  readonly #statements: ReturnType<typeof prepareStatements>;
  /** Numbers of the records whose leaves were asked for since the last write, as is done before each. */
  readonly #located = new Map<string, number | undefined>();

  /** @param database with the schema, opened just now */
  constructor(database: DatabaseSync, options: SqliteIndexesOptions = {}) {
    this.indexes = new SqliteIndexes(database, options);
    this.#statements = prepareStatements(database);
    this.#statements.listPaths.setReturnArrays(true);
  }

  findRow(path: string): StoredRow | undefined {
    return this.#statements.findRow.get(path) as unknown as StoredRow | undefined;
  }

  findLeaf(path: string): Uint8Array | undefined {
    const found = this.#statements.findLeaf.get(path);
    this.#located.set(path, found?.['number'] as number | undefined);
    return (found?.['leaf'] as Uint8Array | null | undefined) ?? undefined;
  }

  listPaths({ from, to }: PathRange, limit: number): readonly string[] {
    const rows = this.#statements.listPaths.all(from, to, toLimit(limit));
    return (rows as unknown as string[][]).flat();
  }

  scanRows({ from, to }: PathRange, limit: number): readonly StoredRow[] {
    return this.#statements.scanRows.all(from, to, toLimit(limit)) as unknown as StoredRow[];
  }

  scanChecked({ from, to }: PathRange, limit: number): readonly CheckedRow[] {
    const rows = this.#statements.scanChecked.all(from, to, toLimit(limit));
    return (rows as unknown as (StoredRow & { readonly leaf: Uint8Array | null })[]).map((row) => ({
      ...row,
      leaf: row.leaf ?? undefined,
    }));
  }

  restore({ path, stored, version, digest }: PutRow): void {
    const number = this.indexes.find(path);
    if (number === undefined) return;
    const [subpage, leaf] = [digest?.subpage ?? null, digest?.leaf ?? null];
    this.#statements.restore.run(subpage, leaf, stored, number, version);
    this.indexes.restored(number);
  }

  write(changes: readonly RowChange[]): void {
    for (const change of changes) {
      const number = this.#locate(change.path);
      if (change.stored !== undefined) this.#put(change, number);
      else if (number !== undefined) this.#delete(change.path, number);
    }
    this.#located.clear();
  }

  #locate(path: string): number | undefined {
    return this.#located.has(path) ? this.#located.get(path) : this.indexes.find(path);
  }

  #put({ path, version, digest, stored }: PutRow, number: number | undefined): void {
    const { insert, update } = this.#statements;
    const leaf = digest?.leaf ?? null;
    if (number !== undefined) update.run(version, leaf, stored, number);
    else insert.run(this.indexes.add(path), path, version, digest?.subpage ?? null, leaf, stored);
  }

  #delete(path: string, number: number): void {
    const deleted = this.#statements.delete.get(number);
    this.indexes.remove(path, number, deleted?.['subpage'] as number | null);
  }
}

/** Columns of the records in a range, from both indexes of paths at once. */
const selectRange = (columns: string): string => {
  const from = (index: string): string =>
    `SELECT ${index}.path AS path, ${columns} FROM ${index}
     CROSS JOIN record ON record.number = ${index}.record
     WHERE ${index}.path >= ?1 AND ${index}.path < ?2`;
  return `${from('recent_path')} UNION ALL ${from('record_path')} ORDER BY path LIMIT ?3`;
};

const prepareStatements = (database: DatabaseSync) =>
  ({
    findRow: database.prepare(
      `SELECT path, stored, version FROM record WHERE number = ${NUMBER_OF_PATH}`,
    ),
    findLeaf: database.prepare(`SELECT number, leaf FROM record WHERE number = ${NUMBER_OF_PATH}`),
    listPaths: database.prepare(
      `SELECT path FROM recent_path WHERE path >= ?1 AND path < ?2
       UNION ALL SELECT path FROM record_path WHERE path >= ?1 AND path < ?2
       ORDER BY path LIMIT ?3`,
    ),
    scanRows: database.prepare(selectRange('stored, version')),
    scanChecked: database.prepare(selectRange('stored, version, leaf')),
    restore: database.prepare(
      'UPDATE record SET subpage = ?, leaf = ?, stored = ? WHERE number = ? AND version = ?',
    ),
    insert: database.prepare(
      `INSERT INTO record (number, path, version, subpage, leaf, stored) VALUES (?, ?, ?, ?, ?, ?)`,
    ),
    update: database.prepare(
      'UPDATE record SET version = ?, leaf = ?, stored = ? WHERE number = ?',
    ),
    delete: database.prepare('DELETE FROM record WHERE number = ? RETURNING subpage'),
  }) satisfies Record<string, StatementSync>;
