/**
 * A projection is one SQL table whose rows follow from single records, and from those with the same key in other
 * collections, by a pure function. It answers what a path lookup cannot (sorting, filtering, expiry) and contains
 * only derived data, so it can be dropped and rebuilt. Its columns are not encrypted, so no secret belongs in them.
 */
import type { RecordCodec } from '../collections/codec.ts';
import type { RecordCollection } from '../collections/record-collection.ts';

/** Types that mean the same in SQLite, PostgreSQL and CockroachDB; true and false are 1 and 0. */
export type ColumnType = 'text' | 'integer' | 'real';
export type ColumnValue = string | number | null;
export type ProjectionRow = Readonly<Record<string, ColumnValue>>;

/** An index of the rows in which a column is not null, so that rows without a value add no work to a commit. */
export interface PartialIndex<Column extends string = string> {
  readonly columns: readonly Column[];
  /** Not null in the rows of the index; queries that compare this column can use it. */
  readonly present: Column;
}

/** A column searched for parts of its text (`Store.findByPart`, `countByPart`). Both columns are text and never null. */
export interface TextSearch<Column extends string = string> {
  readonly column: Column;
  /** Column that restricts a search, such as the id of an organization. */
  readonly scope: Column;
}

/** Records from which rows follow. */
export type RowSource<T> = Pick<RecordCollection<T>, 'prefix'> & {
  readonly codec: Pick<RecordCodec<T>, 'version' | 'decode'>;
};

/** Values by the name of their collection in `Projection.parts`. */
export type Parts = Readonly<Record<string, unknown>>;

export interface Projection<
  T = unknown,
  Row extends ProjectionRow = ProjectionRow,
  P extends Parts = Parts,
> {
  /** Lower snake case; no two projections of a store share it. */
  readonly table: string;
  /** Must be raised with every change of the properties below; the table is then rebuilt. */
  readonly version: number;
  readonly source: RowSource<T>;
  /** Collections whose record with the same key contributes to the rows of a record of `source`. */
  readonly parts?: { readonly [Name in keyof P]: RowSource<P[Name]> };
  readonly columns: Readonly<Record<keyof Row & string, ColumnType>>;
  /** Text sorts by its bytes in every database. */
  readonly indexes: readonly (readonly (keyof Row & string)[] | PartialIndex<keyof Row & string>)[];
  readonly search?: TextSearch<keyof Row & string>;
  /** Keys under which a row is counted; `Store.tallies` returns the number of rows for each. */
  tallies?(row: Row): readonly string[];
  /** Rows that a rebuild writes for a record that cannot be decrypted; none by default. */
  rowsOfDamaged?(key: string): readonly Row[];
  /**
   * Computes the rows of one record from its key, its value and its parts alone.
   * @param parts without those that do not exist or cannot be read
   */
  rows(value: T, key: string, parts: Partial<P>): readonly Row[];
}

/** Checks the types of a projection against each other. */
export const defineProjection = <
  T,
  Row extends ProjectionRow,
  P extends Parts = Readonly<Record<never, never>>,
>(
  projection: Projection<T, Row, P>,
): Projection<T, Row, P> => projection;

/** Changes of a group of commits to one table. */
export interface ProjectedChange {
  readonly projection: Projection;
  readonly path: string;
  /** Rows that are new or different, by their position among those of the record. */
  readonly put: readonly { readonly position: number; readonly row: ProjectionRow }[];
  /** New number of rows of the record, if it had more before. */
  readonly truncatedTo?: number;
  /** Rows whose searched text was added, changed or removed. */
  readonly texts: readonly TextChange[];
  /** Changes to the row counts of `tallies` keys; a key may occur more than once. */
  readonly tallied: readonly Tally[];
}

export interface Tally {
  readonly key: string;
  readonly difference: number;
}

export interface ScopedText {
  readonly text: string;
  readonly scope: string;
}

export interface TextChange {
  readonly position: number;
  readonly before: ScopedText | undefined;
  readonly after: ScopedText | undefined;
}

const isEqual = (a: ProjectionRow | undefined, b: ProjectionRow): boolean =>
  a !== undefined && Object.entries(b).every(([column, value]) => a[column] === value);

/**
 * The minimal change from the rows of the old value to those of the new; undefined if there is
 * none.
 */
export const decideProjectedChange = (
  projection: Projection,
  path: string,
  before: readonly ProjectionRow[],
  after: readonly ProjectionRow[],
): ProjectedChange | undefined => {
  const put = after
    .map((row, position) => ({ row, position }))
    .filter(({ row, position }) => !isEqual(before[position], row));
  const isShorter = after.length < before.length;
  if (put.length === 0 && !isShorter) return undefined;
  const texts = decideTextChanges(projection, before, after);
  return {
    projection,
    path,
    put,
    ...(isShorter && { truncatedTo: after.length }),
    texts,
    tallied: decideTallies(projection, before, after),
  };
};

const NOTHING: readonly never[] = [];

const decideTextChanges = (
  { search }: Projection,
  before: readonly ProjectionRow[],
  after: readonly ProjectionRow[],
): readonly TextChange[] => {
  if (search === undefined) return NOTHING;
  const toText = (row: ProjectionRow | undefined): ScopedText | undefined =>
    row && { text: String(row[search.column]), scope: String(row[search.scope]) };
  return Array.from({ length: Math.max(before.length, after.length) }, (_, position) => ({
    position,
    before: toText(before[position]),
    after: toText(after[position]),
  })).filter(({ before, after }) => before?.text !== after?.text || before?.scope !== after?.scope);
};

const decideTallies = (
  projection: Projection,
  before: readonly ProjectionRow[],
  after: readonly ProjectionRow[],
): readonly Tally[] => {
  const tallied: Tally[] = [];
  const add = (row: ProjectionRow, difference: number): void => {
    for (const key of projection.tallies?.(row) ?? NOTHING) tallied.push({ key, difference });
  };
  for (const row of before) add(row, -1);
  for (const row of after) add(row, 1);
  return tallied;
};

/** Sums of the differences by key, without zero sums. */
export const sumTallies = (changes: readonly ProjectedChange[]): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>();
  for (const { tallied } of changes)
    for (const { key, difference } of tallied) sums.set(key, (sums.get(key) ?? 0) + difference);
  for (const [key, difference] of sums) if (difference === 0) sums.delete(key);
  return sums;
};

/**
 * Rows depend on the projection and on what its records decode to. Each version may only rise, and so their
 * sum rises with every change.
 */
export const rowVersionOf = ({ version, source, parts = {} }: Projection): number =>
  [source, ...Object.values(parts)].reduce((sum, { codec }) => sum + codec.version - 1, version);

/** @param value as the codec of the source decodes it; undefined if there is no record */
export const projectedRows = (
  projection: Projection,
  path: string,
  value: unknown,
  parts: Parts,
): readonly ProjectionRow[] =>
  value === undefined
    ? []
    : projection.rows(value, path.slice(projection.source.prefix.length), parts);
