/** Copies of a store's file: read on a separate connection; restoring one replaces all records. */
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type { OpenCopy, Replacement, StagedRow } from '../copies/copy-rows.ts';
import type { StoreFaults } from '../store-faults.ts';
import { guarded } from './sqlite-errors.ts';
import { SqliteRecords } from './sqlite-records.ts';
import type { WriteStatement } from './writer-thread.ts';

/** Until the read transaction ends, SQLite keeps the versions that it sees in the write-ahead log. */
export const openSqliteCopy = (file: string, faults: StoreFaults): OpenCopy => {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const records = new SqliteRecords(database);
    database.exec('BEGIN');
    const head = database.prepare('SELECT sequence FROM head').get();
    return {
      headSequence: Number(head?.['sequence']),
      scanRows: async (range, limit) => {
        await setImmediate();
        return guarded(() => records.scanRows(range, limit), faults);
      },
      close: async () => {
        if (database.isOpen) database.close();
      },
    };
  } catch (error) {
    database.close();
    throw error;
  }
};

export const discardStagedExcept = (restoration: string): readonly WriteStatement[] => [
  { sql: 'DELETE FROM staged_record WHERE restoration <> ?', rows: [[restoration]] },
];

export const stageRecords = (
  restoration: string,
  rows: readonly StagedRow[],
): readonly WriteStatement[] => [
  {
    sql: `INSERT INTO staged_record (path, restoration, subpage, leaf, stored)
          VALUES (?, ?, ?, ?, ?)
          ON CONFLICT (path) DO UPDATE SET restoration = excluded.restoration,
            subpage = excluded.subpage, leaf = excluded.leaf, stored = excluded.stored`,
    rows: rows.map(({ path, stored, digest }) => [
      path,
      restoration,
      digest?.subpage ?? null,
      digest?.leaf ?? null,
      stored,
    ]),
  },
];

export const replaceRecords = ({
  restoration,
  mark,
  headSequence,
}: Replacement): readonly WriteStatement[] => [
  ...stageRecords(restoration, [mark]),
  { sql: 'DELETE FROM record', rows: [[]] },
  {
    sql: `INSERT INTO record (path, version, subpage, leaf, stored)
          SELECT path, ?, subpage, leaf, stored FROM staged_record WHERE restoration = ?`,
    rows: [[headSequence, restoration]],
    mustChange: true,
  },
  ...['staged_record', 'wal', 'tree_page', 'projection'].map((table) => ({
    sql: `DELETE FROM ${table}`,
    rows: [[]],
  })),
  { sql: 'UPDATE head SET sequence = ?, tree_position = 0', rows: [[headSequence]] },
];
