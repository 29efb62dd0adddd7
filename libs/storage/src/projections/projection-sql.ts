/** Statements for the tables of projections. Each row is keyed by its record and its position there. */
import type { ColumnType, ColumnValue, Projection, ProjectionRow } from './projection.ts';

export interface SqlDialect {
  /** Column that numbers the rows of a searched table; undefined where searches name records. */
  readonly rowNumber: string | undefined;
  readonly types: Readonly<Record<ColumnType, string>>;
  /** How a statement refers to the nth parameter, from 1. */
  readonly parameter: (index: number) => string;
}

export const SQLITE_DIALECT: SqlDialect = {
  // Declared, so that VACUUM keeps the numbers.
  rowNumber: 'row_number INTEGER PRIMARY KEY',
  types: { text: 'TEXT', integer: 'INTEGER', real: 'REAL' },
  parameter: () => '?',
};

export const POSTGRES_DIALECT: SqlDialect = {
  rowNumber: undefined,
  types: { text: 'TEXT COLLATE "C"', integer: 'BIGINT', real: 'DOUBLE PRECISION' },
  parameter: (index) => `$${index}`,
};

export const PROJECTION_VERSIONS_TABLE =
  'CREATE TABLE IF NOT EXISTS projection (name VARCHAR(63) PRIMARY KEY, version BIGINT NOT NULL)';

/** Numbers of rows of projections by tally key. */
export const TALLIES_TABLE = `CREATE TABLE IF NOT EXISTS projection_tally (
  name VARCHAR(63) NOT NULL,
  tally_key TEXT NOT NULL,
  row_count BIGINT NOT NULL,
  PRIMARY KEY (name, tally_key)
)`;

export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const allColumns = ({ columns }: Projection): string[] => [
  'record_path',
  'position',
  ...Object.keys(columns),
];

const indexName = (table: string, columns: readonly string[]): string =>
  quote([table, ...columns].join('_'));

const createIndex = (table: string, index: Projection['indexes'][number]): string => {
  const { columns, present } = 'columns' in index ? index : { columns: index };
  const condition = present === undefined ? '' : ` WHERE ${quote(present)} IS NOT NULL`;
  return `CREATE INDEX ${indexName(table, columns)} ON ${quote(table)} (${columns.map(quote).join(', ')})${condition}`;
};

export const createTable = (projection: Projection, { types, rowNumber }: SqlDialect): string[] => {
  const { table, columns, indexes, search } = projection;
  const isNumbered = search !== undefined && rowNumber !== undefined;
  const definitions = [
    ...(isNumbered ? [rowNumber] : []),
    `record_path ${types.text} NOT NULL`,
    `position ${types.integer} NOT NULL`,
    ...Object.entries(columns).map(([name, type]) => `${quote(name)} ${types[type]}`),
    `${isNumbered ? 'UNIQUE' : 'PRIMARY KEY'} (record_path, position)`,
  ];
  return [
    `DROP TABLE IF EXISTS ${quote(table)}`,
    `CREATE TABLE ${quote(table)} (${definitions.join(', ')})`,
    ...indexes.map((index) => createIndex(table, index)),
  ];
};

/** Upserts `rowCount` rows whose values follow each other as `rowValues` gives them. */
export const putRows = (projection: Projection, rowCount: number, dialect: SqlDialect): string => {
  const columns = allColumns(projection);
  const rows = Array.from({ length: rowCount }, (_, row) => {
    const values = columns.map((_, column) => dialect.parameter(row * columns.length + column + 1));
    return `(${values.join(', ')})`;
  });
  const updates = Object.keys(projection.columns).map(
    (column) => `${quote(column)} = excluded.${quote(column)}`,
  );
  return `INSERT INTO ${quote(projection.table)} (${columns.map(quote).join(', ')})
    VALUES ${rows.join(', ')}
    ON CONFLICT (record_path, position) DO UPDATE SET ${updates.join(', ')}`;
};

export const rowValues = (
  { columns }: Projection,
  path: string,
  position: number,
  row: ProjectionRow,
) => {
  const values: ColumnValue[] = [path, position];
  for (const column in columns) values.push(row[column] ?? null);
  return values;
};

export const truncateRows = ({ table }: Projection, { parameter }: SqlDialect): string =>
  `DELETE FROM ${quote(table)} WHERE record_path = ${parameter(1)} AND position >= ${parameter(2)}`;

export const loadVersion = ({ parameter }: SqlDialect): string =>
  `SELECT version FROM projection WHERE name = ${parameter(1)}`;

export const saveVersion = ({ parameter }: SqlDialect): string =>
  `INSERT INTO projection (name, version) VALUES (${parameter(1)}, ${parameter(2)})
   ON CONFLICT (name) DO UPDATE SET version = excluded.version`;

export const forgetVersion = ({ parameter }: SqlDialect): string =>
  `DELETE FROM projection WHERE name = ${parameter(1)}`;

export const resetTallies = ({ parameter }: SqlDialect): string =>
  `DELETE FROM projection_tally WHERE name = ${parameter(1)}`;

/** Adds a difference to each of `keyCount` keys; parameters are name, key and difference of each. */
export const addTallies = (keyCount: number, { parameter }: SqlDialect): string => {
  const rows = Array.from(
    { length: keyCount },
    (_, at) => `(${parameter(3 * at + 1)}, ${parameter(3 * at + 2)}, ${parameter(3 * at + 3)})`,
  );
  return `INSERT INTO projection_tally (name, tally_key, row_count) VALUES ${rows.join(', ')}
    ON CONFLICT (name, tally_key) DO UPDATE SET
      row_count = projection_tally.row_count + excluded.row_count`;
};

export const loadTallies = (keyCount: number, { parameter }: SqlDialect): string => {
  const keys = Array.from({ length: keyCount }, (_, at) => parameter(at + 2));
  return `SELECT tally_key, row_count FROM projection_tally
    WHERE name = ${parameter(1)} AND tally_key IN (${keys.join(', ')})`;
};
