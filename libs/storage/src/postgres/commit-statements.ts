/** The statements that a commit sends to PostgreSQL. */
import type { Batch } from '../backend.ts';
import { type ProjectedChange, sumTallies } from '../projections/projection.ts';
import {
  addTallies,
  POSTGRES_DIALECT,
  putRows,
  rowValues,
  truncateRows,
} from '../projections/projection-sql.ts';
import type { PutRow } from '../records/stored-rows.ts';
import { encodeOperations } from '../wal/wal-codec.ts';
import type { Statement } from './postgres-connections.ts';

/** A path as the value of a `bytea` column. */
export const bytea = (path: string): Buffer => Buffer.from(path);

/** The statements that write a batch: log entries, records, head and projections. */
export const statementsOf = (
  { entries, changes, projected }: Batch,
  logBytes: number,
): readonly Statement[] => {
  const written = changes.filter((change): change is PutRow => change.stored !== undefined);
  const encoded = entries.map(({ operations }) => encodeOperations(operations));
  let endBytes = logBytes;
  const ends = encoded.map(({ length }) => (endBytes += length));
  const deleted = changes.filter(({ stored }) => stored === undefined);
  const append: Statement = {
    sql: `WITH appended AS (
       INSERT INTO wal (sequence, committed_at_ms, operations, end_bytes)
       SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $8::bigint[])
     ), put AS (
       INSERT INTO record (path, stored, version, subpage, leaf)
       SELECT * FROM unnest($4::bytea[], $5::bytea[], $6::bigint[], $10::bigint[], $11::bytea[])
       ON CONFLICT (path) DO UPDATE SET
         stored = excluded.stored, version = excluded.version, leaf = excluded.leaf
     )
     UPDATE head SET sequence = $7, log_bytes = $9 WHERE id = 1`,
    values: [
      entries.map(({ sequence }) => sequence),
      entries.map(({ committedAtMs }) => committedAtMs),
      encoded,
      written.map(({ path }) => bytea(path)),
      written.map(({ stored }) => stored),
      written.map(({ version }) => version),
      entries.at(-1)?.sequence,
      ends,
      endBytes,
      written.map(({ digest }) => digest?.subpage ?? null),
      written.map(({ digest }) => digest?.leaf ?? null),
    ],
  };
  const remove: Statement = {
    sql: 'DELETE FROM record WHERE path = ANY($1::bytea[])',
    values: [deleted.map(({ path }) => bytea(path))],
  };
  return [append, ...(deleted.length > 0 ? [remove] : []), ...projectedStatements(projected)];
};

/** PostgreSQL allows 65,535 parameters in a statement. */
const MAX_PARAMETERS = 30_000;
/** Added in one statement. */
const MAX_TALLIES = 1000;

/** The statements that write projected rows and their tallies. */
export const projectedStatements = (changes: readonly ProjectedChange[]): readonly Statement[] => {
  const statements: Statement[] = [];
  for (const [projection, ofTable] of Map.groupBy(changes, (change) => change.projection)) {
    for (const { path, truncatedTo } of ofTable)
      if (truncatedTo !== undefined)
        statements.push({
          sql: truncateRows(projection, POSTGRES_DIALECT),
          values: [path, truncatedTo],
        });
    const rows = ofTable.flatMap(({ path, put }) =>
      put.map(({ position, row }) => rowValues(projection, path, position, row)),
    );
    const pageRows = Math.floor(MAX_PARAMETERS / (rows[0]?.length ?? 1));
    for (let at = 0; at < rows.length; at += pageRows) {
      const page = rows.slice(at, at + pageRows);
      const sql = putRows(projection, page.length, POSTGRES_DIALECT);
      statements.push({ sql, values: page.flat() });
    }
    const tallies = [...sumTallies(ofTable)];
    for (let at = 0; at < tallies.length; at += MAX_TALLIES) {
      const some = tallies.slice(at, at + MAX_TALLIES);
      const values = some.flatMap(([key, difference]) => [projection.table, key, difference]);
      statements.push({ sql: addTallies(some.length, POSTGRES_DIALECT), values });
    }
  }
  return statements;
};
