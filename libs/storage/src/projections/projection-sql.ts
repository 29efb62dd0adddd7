/** Statements for the tables of projections. Each row is keyed by its record and its position there. */
import type { ColumnType, Projection, ProjectionRow } from './projection.ts';

export interface SqlDialect {
  readonly types: Readonly<Record<ColumnType, string>>;
  /** Placeholder of the nth parameter, from 1. */
  readonly parameter: (index: number) => string;
}

export const SQLITE_DIALECT: SqlDialect = {
  types: { text: 'TEXT', integer: 'INTEGER', real: 'REAL' },
  parameter: () => '?',
};

export const POSTGRES_DIALECT: SqlDialect = {
  types: { text: 'TEXT COLLATE "C"', integer: 'BIGINT', real: 'DOUBLE PRECISION' },
  parameter: (index) => `$${index}`,
};

export const PROJECTION_VERSIONS_TABLE =
  'CREATE TABLE IF NOT EXISTS projection (name VARCHAR(63) PRIMARY KEY, version BIGINT NOT NULL)';

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const allColumns = ({ columns }: Projection): string[] => [
  'record_path',
  'position',
  ...Object.keys(columns),
];

export const createTable = (projection: Projection, { types }: SqlDialect): string[] => {
  const { table, columns, indexes } = projection;
  const definitions = [
    `record_path ${types.text} NOT NULL`,
    `position ${types.integer} NOT NULL`,
    ...Object.entries(columns).map(([name, type]) => `${quote(name)} ${types[type]}`),
    'PRIMARY KEY (record_path, position)',
  ];
  return [
    `DROP TABLE IF EXISTS ${quote(table)}`,
    `CREATE TABLE ${quote(table)} (${definitions.join(', ')})`,
    ...indexes.map(
      (index) =>
        `CREATE INDEX ${quote([table, ...index].join('_'))} ON ${quote(table)} (${index.map(quote).join(', ')})`,
    ),
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
) => [path, position, ...Object.keys(columns).map((column) => row[column] ?? null)];

export const truncateRows = ({ table }: Projection, { parameter }: SqlDialect): string =>
  `DELETE FROM ${quote(table)} WHERE record_path = ${parameter(1)} AND position >= ${parameter(2)}`;

export const loadVersion = ({ parameter }: SqlDialect): string =>
  `SELECT version FROM projection WHERE name = ${parameter(1)}`;

export const saveVersion = ({ parameter }: SqlDialect): string =>
  `INSERT INTO projection (name, version) VALUES (${parameter(1)}, ${parameter(2)})
   ON CONFLICT (name) DO UPDATE SET version = excluded.version`;

export const forgetVersion = ({ parameter }: SqlDialect): string =>
  `DELETE FROM projection WHERE name = ${parameter(1)}`;
