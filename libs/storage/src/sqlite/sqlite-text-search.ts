/**
 * Texts of projections in SQLite: an FTS5 index of trigrams without content beside the table, by the
 * table's row numbers. It is written like a log-structured tree, so that a text costs a commit a few
 * microseconds however many there are.
 */
import type { SQLInputValue, StatementSync } from 'node:sqlite';
import type { ProjectedChange, Projection, TextSearch } from '../projections/projection.ts';
import { quote } from '../projections/projection-sql.ts';
import {
  coveringTrigrams,
  isLookedUpWhole,
  toIndexedText,
  toLookedUp,
  toScopeTrigram,
} from '../projections/text-search.ts';

type Prepare = (sql: string) => StatementSync;

const indexOf = ({ table }: Pick<Projection, 'table'>): string => quote(`${table}_text`);

export const createTextIndex = (projection: Projection): string[] => [
  `DROP TABLE IF EXISTS ${indexOf(projection)}`,
  ...(projection.search === undefined
    ? []
    : [
        `CREATE VIRTUAL TABLE ${indexOf(projection)} USING fts5(scope, content,
           tokenize = 'trigram case_sensitive 1', content = '', contentless_delete = 1)`,
      ]),
];

export interface TextStatements {
  readonly findRow: StatementSync;
  readonly remove: StatementSync;
  readonly add: StatementSync;
}

export const prepareTextIndex = (prepare: Prepare, projection: Projection): TextStatements => ({
  findRow: prepare(
    `SELECT row_number FROM ${quote(projection.table)} WHERE record_path = ? AND position = ?`,
  ),
  remove: prepare(`DELETE FROM ${indexOf(projection)} WHERE rowid = ?`),
  add: prepare(`INSERT INTO ${indexOf(projection)} (rowid, scope, content) VALUES (?, ?, ?)`),
});

/** To be called when the rows that were put are written and those past `truncatedTo` are still there. */
export const indexTexts = (
  { findRow, remove, add }: TextStatements,
  { path, texts }: Pick<ProjectedChange, 'path' | 'texts'>,
): void => {
  for (const { position, before, after } of texts) {
    const row = findRow.get(path, position)?.['row_number'] as SQLInputValue;
    if (before !== undefined) remove.run(row);
    if (after !== undefined) add.run(row, toScopeTrigram(after.scope), toIndexedText(after.text));
  }
};

const phrase = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Texts that contain all of this one, wherever: half or a third of what a phrase looks up. */
const allOf = (text: string): string => coveringTrigrams(text).map(phrase).join(' AND ');

/**
 * @param scope undefined: of all scopes, which takes a fraction of the time
 * @param toQuery `phrase`: texts that contain a text that is looked up; `allOf`: a few others with them
 */
const matchOf = (
  scope: string | undefined,
  lookedUp: readonly string[],
  toQuery: typeof phrase,
): string => {
  const content = `content : (${lookedUp.map((text) => `(${toQuery(text)})`).join(' OR ')})`;
  return scope === undefined ? content : `scope : ${phrase(toScopeTrigram(scope))} AND ${content}`;
};

/**
 * How many rows contain the part, those of all scopes that share the characters of this one included.
 * @param query without a scope: of all scopes
 */
export const countByPart = (
  prepare: Prepare,
  { table, search }: { readonly table: string; readonly search: TextSearch },
  { scope, part }: { readonly scope: string | undefined; readonly part: string },
): number | undefined => {
  const lookedUp = toLookedUp(part, search);
  if (lookedUp === undefined || !isLookedUpWhole(part)) return undefined;
  const counted = prepare(
    `SELECT count(*) AS matches FROM ${indexOf({ table })} WHERE ${indexOf({ table })} MATCH ?`,
  ).get(matchOf(scope, lookedUp, phrase));
  return Number(counted?.['matches']);
};

/** @returns paths of the records; undefined when there are more than `limit`, or none can be looked up */
export const findByPart = (
  prepare: Prepare,
  { table, search }: { readonly table: string; readonly search: TextSearch },
  { scope, part, limit }: { readonly scope: string; readonly part: string; readonly limit: number },
): readonly string[] | undefined => {
  const lookedUp = toLookedUp(part, search);
  if (lookedUp === undefined) return undefined;
  // As one JSON array: a row for each would cost more than finding it.
  const find = (within: string | undefined, toQuery: typeof phrase) =>
    prepare(
      `SELECT count(*) AS found, json_group_array(rowid) AS row_numbers FROM (
         SELECT rowid FROM ${indexOf({ table })} WHERE ${indexOf({ table })} MATCH ? LIMIT ?)`,
    ).get(matchOf(within, lookedUp, toQuery), limit + 1) as unknown as {
      readonly found: number;
      readonly row_numbers: string;
    };
  const inAll = find(undefined, allOf);
  const { found, row_numbers: rowNumbers } = inAll.found > limit ? find(scope, phrase) : inAll;
  if (found > limit) return undefined;
  if (found === 0) return [];
  // The plus keeps an index over the scope, which finds far more rows, from being used.
  const paths = prepare(
    `SELECT DISTINCT record_path FROM ${quote(table)}
     WHERE row_number IN (SELECT value FROM json_each(?)) AND +${quote(search.scope)} = ?
       AND instr(char(2) || ${quote(search.column)} || char(3), ?) > 0`,
  ).all(rowNumbers, scope, part);
  return paths.map((row) => row['record_path'] as string);
};
