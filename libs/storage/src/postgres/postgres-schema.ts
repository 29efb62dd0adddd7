import { PROJECTION_VERSIONS_TABLE, TALLIES_TABLE } from '../projections/projection-sql.ts';

/** Format of the tables. A database of another format is refused, not converted. */
export const POSTGRES_FORMAT = 1;

/**
 * Tables of a store in its own database. Paths are bytes: their order is the order of the store
 * whatever the database's collation is. `pg_trgm` is a trusted extension: the owner of a database may add
 * it.
 */
export const POSTGRES_SCHEMA: readonly string[] = [
  'CREATE EXTENSION IF NOT EXISTS pg_trgm',
  `CREATE TABLE IF NOT EXISTS head (
     id BIGINT PRIMARY KEY, format BIGINT NOT NULL, sequence BIGINT NOT NULL,
     log_bytes BIGINT NOT NULL, tree_position BIGINT NOT NULL,
     layout VARCHAR(64) NOT NULL DEFAULT '', record_versions TEXT NOT NULL DEFAULT '')`,
  `INSERT INTO head (id, format, sequence, log_bytes, tree_position)
   VALUES (1, ${POSTGRES_FORMAT}, 0, 0, 0)
   ON CONFLICT (id) DO NOTHING`,
  `CREATE TABLE IF NOT EXISTS record (
     path BYTEA PRIMARY KEY, version BIGINT NOT NULL,
     subpage BIGINT, leaf BYTEA, stored BYTEA NOT NULL)`,
  'CREATE INDEX IF NOT EXISTS record_subpage ON record (subpage)',
  `CREATE TABLE IF NOT EXISTS wal (
     sequence BIGINT PRIMARY KEY, committed_at_ms BIGINT NOT NULL,
     end_bytes BIGINT NOT NULL, operations BYTEA NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS tree_page (
     tree VARCHAR(16), page BIGINT, subpage_digests BYTEA NOT NULL, PRIMARY KEY (tree, page))`,
  `CREATE TABLE IF NOT EXISTS staged_record (
     path BYTEA PRIMARY KEY, restoration VARCHAR(64) NOT NULL,
     subpage BIGINT, leaf BYTEA, stored BYTEA NOT NULL)`,
  PROJECTION_VERSIONS_TABLE,
  TALLIES_TABLE,
];

/** Columns of the head that a database may lack because an older version made it. */
export const LATER_COLUMNS: Readonly<Record<string, string>> = {
  layout: "VARCHAR(64) NOT NULL DEFAULT ''",
  record_versions: "TEXT NOT NULL DEFAULT ''",
};
