/** The records of a store's file, by their paths. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { PathRange } from '../records/record-path.ts';
import type { CheckedRow, PutRow, RowChange, StoredRow } from '../records/stored-rows.ts';
import type { SubpageIndex } from '../store.ts';
import type { WriteStatement } from './writer-thread.ts';

/** SQLite's "no limit". */
const toLimit = (limit: number): number => (Number.isFinite(limit) ? limit : -1);

export class SqliteRecords {
  readonly #statements: ReturnType<typeof prepareStatements>;

  /** @param database with the schema */
  constructor(database: DatabaseSync) {
    this.#statements = prepareStatements(database);
    this.#statements.listPaths.setReturnArrays(true);
    this.#statements.listSubpage.setReturnArrays(true);
  }

  findRow(path: string): StoredRow | undefined {
    return this.#statements.findRow.get(path) as unknown as StoredRow | undefined;
  }

  findLeaf(path: string): Uint8Array | undefined {
    const found = this.#statements.findLeaf.get(path);
    return (found?.['leaf'] as Uint8Array | null | undefined) ?? undefined;
  }

  /** Paths of the records in a subpage of either tree, in byte order. */
  listSubpage(subpage: SubpageIndex): readonly string[] {
    return (this.#statements.listSubpage.all(subpage) as unknown as string[][]).flat();
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
}

const prepareStatements = (database: DatabaseSync) =>
  ({
    findRow: database.prepare('SELECT path, stored, version FROM record WHERE path = ?'),
    findLeaf: database.prepare('SELECT leaf FROM record WHERE path = ?'),
    listSubpage: database.prepare('SELECT path FROM record WHERE subpage = ? ORDER BY path'),
    listPaths: database.prepare(
      'SELECT path FROM record WHERE path >= ? AND path < ? ORDER BY path LIMIT ?',
    ),
    scanRows: database.prepare(
      `SELECT path, stored, version FROM record
       WHERE path >= ? AND path < ? ORDER BY path LIMIT ?`,
    ),
    scanChecked: database.prepare(
      `SELECT path, stored, version, leaf FROM record
       WHERE path >= ? AND path < ? ORDER BY path LIMIT ?`,
    ),
  }) satisfies Record<string, StatementSync>;

/** Replaces the row in place, unless it has another version by now. */
export const restoreRecord = ({ path, stored, version, digest }: PutRow): WriteStatement => ({
  sql: 'UPDATE record SET subpage = ?, leaf = ?, stored = ? WHERE path = ? AND version = ?',
  rows: [[digest?.subpage ?? null, digest?.leaf ?? null, stored, path, version]],
});

/** Writes and deletes the rows of the records that a group of commits changed. */
export const writeRecords = (changes: readonly RowChange[]): readonly WriteStatement[] => {
  const put: SQLInputValue[][] = [];
  const deleted: SQLInputValue[][] = [];
  for (const change of changes) {
    if (change.stored === undefined) {
      deleted.push([change.path]);
      continue;
    }
    const { path, version, digest, stored } = change;
    put.push([path, version, digest?.subpage ?? null, digest?.leaf ?? null, stored]);
  }
  return [
    {
      sql: `INSERT INTO record (path, version, subpage, leaf, stored) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (path) DO UPDATE SET
              version = excluded.version, leaf = excluded.leaf, stored = excluded.stored`,
      rows: put,
    },
    { sql: 'DELETE FROM record WHERE path = ?', rows: deleted },
  ];
};
