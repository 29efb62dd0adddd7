import { PROJECTION_VERSIONS_TABLE, TALLIES_TABLE } from '../projections/projection-sql.ts';

/** Format of the tables. A file of another format is refused, not converted. */
export const SQLITE_FORMAT = 1;

/**
 * Settings of both connections. Durability is SQLite's own: with `synchronous=FULL` a COMMIT returns
 * after its frames in the write-ahead log are flushed, and SQLite decides when to checkpoint. The file is
 * not memory-mapped: the mapped pages would count as memory of the process, once for each connection. The
 * file of a log that had to grow is cut when the log begins again.
 */
export const CONNECTION_PRAGMAS = `
PRAGMA synchronous = FULL;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -8192;
PRAGMA journal_size_limit = 8388608;
`;

/**
 * Tables of a store's file. `subpage` and `leaf` locate a record in its Merkle tree and are NULL for a
 * record in no tree. `stored` values are small enough (a few KB) to live in the table itself; both
 * indexes keep them out of their pages.
 */
export const SQLITE_SCHEMA = `
${PROJECTION_VERSIONS_TABLE};
${TALLIES_TABLE};
CREATE TABLE IF NOT EXISTS head (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  format INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  log_bytes INTEGER NOT NULL,
  tree_position INTEGER NOT NULL,
  layout TEXT NOT NULL DEFAULT '',
  record_versions TEXT NOT NULL DEFAULT ''
);
INSERT OR IGNORE INTO head (id, format, sequence, log_bytes, tree_position)
  VALUES (1, ${SQLITE_FORMAT}, 0, 0, 0);
CREATE TABLE IF NOT EXISTS record (
  path TEXT NOT NULL UNIQUE,
  version INTEGER NOT NULL,
  subpage INTEGER,
  leaf BLOB,
  stored BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS record_subpage ON record (subpage) WHERE subpage IS NOT NULL;
CREATE TABLE IF NOT EXISTS wal (
  sequence INTEGER PRIMARY KEY,
  committed_at_ms INTEGER NOT NULL,
  end_bytes INTEGER NOT NULL,
  operations BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS tree_page (
  tree TEXT NOT NULL,
  page INTEGER NOT NULL,
  subpage_digests BLOB NOT NULL,
  PRIMARY KEY (tree, page)
);
CREATE TABLE IF NOT EXISTS staged_record (
  path TEXT PRIMARY KEY,
  restoration TEXT NOT NULL,
  subpage INTEGER,
  leaf BLOB,
  stored BLOB NOT NULL
);
`;

/** Columns of the head that a file may lack because an older version made it. */
export const LATER_COLUMNS: readonly string[] = ['layout', 'record_versions'];
