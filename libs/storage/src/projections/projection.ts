/**
 * A projection is one SQL table whose rows follow from single records by a pure function. It answers
 * what a path lookup cannot (sorting, filtering, expiry) and holds nothing of its own: it can be dropped
 * and built again. Its columns are not encrypted, so no secret belongs in them.
 */
import type { RecordCollection } from '../records/json-records.ts';

/** Types that mean the same in SQLite, PostgreSQL and CockroachDB; true and false are 1 and 0. */
export type ColumnType = 'text' | 'integer' | 'real';
export type ColumnValue = string | number | null;
export type ProjectionRow = Readonly<Record<string, ColumnValue>>;

export interface Projection<T = unknown, Row extends ProjectionRow = ProjectionRow> {
  /** Lower snake case; no two projections of a store share it. */
  readonly table: string;
  /** To be raised with every change of columns, indexes or `rows`; the table is then built again. */
  readonly version: number;
  /** Where the records lie and how their values are read. */
  readonly source: Pick<RecordCollection<T>, 'prefix' | 'decode'>;
  readonly columns: Readonly<Record<keyof Row & string, ColumnType>>;
  /** Text sorts by its bytes in every database. */
  readonly indexes: readonly (readonly (keyof Row & string)[])[];
  /** Rows of one record, from nothing but its key and value. */
  rows(value: Readonly<T>, key: string): readonly Row[];
}

/** Checks the types of a projection against each other. */
export const defineProjection = <T, Row extends ProjectionRow>(
  projection: Projection<T, Row>,
): Projection<T, Row> => projection;

/** What a group of commits changes in one table. */
export interface ProjectedChange {
  readonly projection: Projection;
  readonly path: string;
  /** Rows that are new or different, by their position among those of the record. */
  readonly put: readonly { readonly position: number; readonly row: ProjectionRow }[];
  /** How many rows the record has now, when it had more before. */
  readonly truncatedTo?: number;
}

const isEqual = (a: ProjectionRow | undefined, b: ProjectionRow): boolean =>
  a !== undefined && Object.entries(b).every(([column, value]) => a[column] === value);

/** The least change from the rows of the old value to those of the new; undefined when there is none. */
export const decideProjectedChange = (
  projection: Projection,
  path: string,
  old: Uint8Array | undefined,
  value: Uint8Array | undefined,
): ProjectedChange | undefined => {
  const before = rowsOf(projection, path, old);
  const after = rowsOf(projection, path, value);
  const put = after
    .map((row, position) => ({ row, position }))
    .filter(({ row, position }) => !isEqual(before[position], row));
  const isShorter = after.length < before.length;
  if (put.length === 0 && !isShorter) return undefined;
  return { projection, path, put, ...(isShorter && { truncatedTo: after.length }) };
};

const rowsOf = (
  projection: Projection,
  path: string,
  value: Uint8Array | undefined,
): readonly ProjectionRow[] =>
  value === undefined
    ? []
    : projection.rows(projection.source.decode(value), path.slice(projection.source.prefix.length));
