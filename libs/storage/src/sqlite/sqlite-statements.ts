/** The statements of a store's own tables but those of its records. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

export const prepareStatements = (database: DatabaseSync) =>
  ({
    readHead: database.prepare('SELECT sequence, log_bytes, tree_position FROM head'),
    moveHead: database.prepare('UPDATE head SET sequence = ?, log_bytes = ?'),
    firstSequence: database.prepare('SELECT min(sequence) AS sequence FROM wal'),
    loadEntries: database.prepare(
      `SELECT sequence, committed_at_ms, operations FROM wal
       WHERE sequence > ? ORDER BY sequence LIMIT ?`,
    ),
    loadMark: database.prepare(
      'SELECT committed_at_ms AS committedAtMs, end_bytes AS endBytes FROM wal WHERE sequence = ?',
    ),
    deleteEntries: database.prepare('DELETE FROM wal WHERE sequence < ?'),
    loadPages: database.prepare(
      'SELECT tree, page, subpage_digests AS subpageDigests FROM tree_page',
    ),
    savePage: database.prepare(
      `INSERT INTO tree_page (tree, page, subpage_digests) VALUES (?, ?, ?)
       ON CONFLICT (tree, page) DO UPDATE SET subpage_digests = excluded.subpage_digests`,
    ),
    moveTrees: database.prepare('UPDATE head SET tree_position = ? WHERE tree_position = ?'),
    appendEntry: database.prepare(
      'INSERT INTO wal (sequence, committed_at_ms, end_bytes, operations) VALUES (?, ?, ?, ?)',
    ),
  }) satisfies Record<string, StatementSync>;
