import { PROJECTION_VERSIONS_TABLE, TALLIES_TABLE } from '../projections/projection-sql.ts';
import { INDEXES_SCHEMA } from './sqlite-indexes.ts';

/**
 * Of the tables, and of what lies beside the file: 1 had no subpage and leaf beside a record, 2 no redo
 * log, which a version that does not know it must not leave unread.
 */
export const SQLITE_FORMAT = 3;
export const FORMAT_WITHOUT_REDO_LOG = 2;

/**
 * `subpage` and `leaf` are those of the record's Merkle tree, NULL where it is in none. The number is last
 * because rows of former files end before it.
 */
export const RECORD_TABLE = `record (
  path TEXT NOT NULL,
  version INTEGER NOT NULL,
  subpage INTEGER,
  leaf BLOB,
  stored BLOB NOT NULL,
  number INTEGER PRIMARY KEY
)`;

/**
 * Tables of a store's file. `stored` bytes are small enough (a few KB) to sit in the table, in the order
 * of the numbers; the indexes over it keep them out of their pages.
 */
export const SQLITE_SCHEMA = `
${PROJECTION_VERSIONS_TABLE};
${TALLIES_TABLE};
CREATE TABLE IF NOT EXISTS head (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  format INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  log_bytes INTEGER NOT NULL,
  tree_position INTEGER NOT NULL
);
INSERT OR IGNORE INTO head (id, format, sequence, log_bytes, tree_position)
  VALUES (1, ${SQLITE_FORMAT}, 0, 0, 0);
UPDATE head SET format = ${SQLITE_FORMAT} WHERE format = ${FORMAT_WITHOUT_REDO_LOG};
CREATE TABLE IF NOT EXISTS ${RECORD_TABLE};
${INDEXES_SCHEMA};
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
`;
