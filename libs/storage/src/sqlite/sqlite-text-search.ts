/**
 * Texts of projections in SQLite: a contentless FTS5 trigram index for each table, keyed by the
 * table's row numbers. FTS5 is written like a log-structured tree, so a text costs a commit a few
 * microseconds however many there are.
 */
import { createHash } from 'node:crypto';
import type { SQLInputValue, StatementSync } from 'node:sqlite';
import type { ProjectedChange, Projection } from '../projections/projection.ts';
import { quote } from '../projections/projection-sql.ts';
import { isIndexable, type Searched } from '../projections/text-search.ts';
import type { PartCount, PartQuery } from '../store.ts';
import type { WriteStatement } from './writer-thread.ts';

type Prepare = (sql: string) => StatementSync;

const indexOf = ({ table }: Pick<Projection, 'table'>): string => quote(`${table}_text`);

export const createTextIndex = (projection: Projection): string[] => [
  `DROP TABLE IF EXISTS ${indexOf(projection)}`,
  ...(projection.search === undefined
    ? []
    : [
        `CREATE VIRTUAL TABLE ${indexOf(projection)} USING fts5(content, scope,
           tokenize = 'trigram case_sensitive 1', content = '', contentless_delete = 1)`,
      ]),
];

const SUPPLEMENTARY_PLANES = 0x10_000;

/**
 * The scope as a single trigram: three characters from the supplementary planes, chosen by 60 bits of a
 * hash. The scope's own text would be a phrase of many trigrams, each of which occurs in every row.
 */
const toTrigram = (scope: string): string => {
  const digest = createHash('sha256').update(scope).digest();
  const characters = [0, 4, 8].map((at) => SUPPLEMENTARY_PLANES + (digest.readUInt32LE(at) >>> 12));
  return String.fromCodePoint(...characters);
};

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
      if (after !== undefined) added.push([path, position, after.text, toTrigram(after.scope)]);
    }
  const rowNumber = `(SELECT row_number FROM ${quote(projection.table)}
    WHERE record_path = ? AND position = ?)`;
  const index = indexOf(projection);
  return [
    { sql: `DELETE FROM ${index} WHERE rowid = ${rowNumber}`, rows: removed },
    {
      sql: `INSERT INTO ${index} (rowid, content, scope) VALUES (${rowNumber}, ?, ?)`,
      rows: added,
    },
  ];
};

/** The FTS5 expression for texts of the scope that contain the part. */
const matching = ({ scope, part }: PartCount): string =>
  `content : "${part.replaceAll('"', '""')}" AND scope : "${toTrigram(scope)}"`;

/** @returns paths of the records; undefined when there are more than `limit`, or none can be looked up */
export const findByPart = (
  prepare: Prepare,
  { table, search }: Searched,
  query: PartQuery,
): readonly string[] | undefined => {
  if (!isIndexable(query.part)) return undefined;
  const matches = prepare(
    `SELECT rowid FROM ${indexOf({ table })} WHERE ${indexOf({ table })} MATCH ? LIMIT ?`,
  ).all(matching(query), query.limit + 1);
  if (matches.length > query.limit) return undefined;
  // The scope is compared again, because no row of another may be returned even if two hashes are equal.
  // The plus keeps SQLite from using an index over the scope, which would find far more rows.
  const rows = prepare(
    `SELECT DISTINCT record_path FROM ${quote(table)}
     WHERE row_number IN (SELECT value FROM json_each(?)) AND +${quote(search.scope)} = ?`,
  ).all(JSON.stringify(matches.map((match) => match['rowid'])), query.scope);
  return rows.map((row) => row['record_path'] as string);
};

/** @returns the number of rows; undefined when the part cannot be looked up */
export const countByPart = (
  prepare: Prepare,
  { table }: Searched,
  query: PartCount,
): number | undefined => {
  if (!isIndexable(query.part)) return undefined;
  const row = prepare(
    `SELECT count(*) AS matches FROM ${indexOf({ table })} WHERE ${indexOf({ table })} MATCH ?`,
  ).get(matching(query));
  return row?.['matches'] as number;
};
