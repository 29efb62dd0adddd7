/** Reads of a store's own tables, except those of its records (sqlite-records.ts). */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

export const prepareStatements = (database: DatabaseSync) =>
  ({
    readHead: database.prepare(
      'SELECT sequence, log_bytes, tree_position, record_versions FROM head',
    ),
    firstSequence: database.prepare('SELECT min(sequence) AS sequence FROM wal'),
    loadEntries: database.prepare(
      `SELECT sequence, committed_at_ms, operations FROM wal
       WHERE sequence > ? ORDER BY sequence LIMIT ?`,
    ),
    loadMark: database.prepare(
      'SELECT committed_at_ms AS committedAtMs, end_bytes AS endBytes FROM wal WHERE sequence = ?',
    ),
    sizeBytes: database.prepare(
      'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()',
    ),
    loadPages: database.prepare(
      'SELECT tree, page, subpage_digests AS subpageDigests FROM tree_page',
    ),
  }) satisfies Record<string, StatementSync>;
