/**
 * Texts of projections in SQLite: a contentless FTS5 trigram index for each table, keyed by the
 * table's row numbers. FTS5 is written like a log-structured tree, so a text costs a commit a few
 * microseconds however many there are.
 */
import type { SQLInputValue, StatementSync } from 'node:sqlite';
import type { ProjectedChange, Projection, TextSearch } from '../projections/projection.ts';
import { quote } from '../projections/projection-sql.ts';
import { isIndexable } from '../projections/text-search.ts';
import type { PartQuery } from '../store.ts';
import type { WriteStatement } from './writer-thread.ts';

const indexOf = ({ table }: Pick<Projection, 'table'>): string => quote(`${table}_text`);

export const createTextIndex = (projection: Projection): string[] => [
  `DROP TABLE IF EXISTS ${indexOf(projection)}`,
  ...(projection.search === undefined
    ? []
    : [
        `CREATE VIRTUAL TABLE ${indexOf(projection)} USING fts5(content,
           tokenize = 'trigram case_sensitive 1', content = '', contentless_delete = 1)`,
      ]),
];

/**
 * Updates the index for rows that were put. Must run while the rows past `truncatedTo` still exist.
 * Each row number is looked up by a subquery in VALUES, because INSERT … SELECT would make FTS5
 * write its buffer as a segment for every text.
 */
export const indexTexts = (
  projection: Projection,
  changes: readonly Pick<ProjectedChange, 'path' | 'texts'>[],
): readonly WriteStatement[] => {
  const removed: SQLInputValue[][] = [];
  const added: SQLInputValue[][] = [];
  for (const { path, texts } of changes)
    for (const { position, before, after } of texts) {
      if (before !== undefined) removed.push([path, position]);
      if (after !== undefined) added.push([path, position, after]);
    }
  const rowNumber = `(SELECT row_number FROM ${quote(projection.table)}
    WHERE record_path = ? AND position = ?)`;
  const index = indexOf(projection);
  return [
    { sql: `DELETE FROM ${index} WHERE rowid = ${rowNumber}`, rows: removed },
    { sql: `INSERT INTO ${index} (rowid, content) VALUES (${rowNumber}, ?)`, rows: added },
  ];
};

const phrase = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/**
 * The index is of all scopes together, so the limit counts the matches of other scopes too.
 * @returns paths of the records; undefined when there are more than `limit`, or none can be looked up
 */
export const findByPart = (
  prepare: (sql: string) => StatementSync,
  { table, search }: { readonly table: string; readonly search: TextSearch },
  { scope, part, limit }: PartQuery,
): readonly string[] | undefined => {
  if (!isIndexable(part)) return undefined;
  const matches = prepare(
    `SELECT rowid FROM ${indexOf({ table })} WHERE ${indexOf({ table })} MATCH ? LIMIT ?`,
  ).all(phrase(part), limit + 1);
  if (matches.length > limit) return undefined;
  // The plus keeps SQLite from using an index over the scope, which would find far more rows.
  const rows = prepare(
    `SELECT DISTINCT record_path FROM ${quote(table)}
     WHERE row_number IN (SELECT value FROM json_each(?)) AND +${quote(search.scope)} = ?`,
  ).all(JSON.stringify(matches.map((match) => match['rowid'])), scope);
  return rows.map((row) => row['record_path'] as string);
};
