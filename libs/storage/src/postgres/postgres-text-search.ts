/**
 * Texts of projections in PostgreSQL: a table with a row for each trigram of each text, since the
 * extension for that is not everywhere (CockroachDB, databases without the right to add one).
 */

import type {
  ProjectedChange,
  Projection,
  ScopedText,
  TextSearch,
} from '../projections/projection.ts';
import { quote } from '../projections/projection-sql.ts';
import { toIndexedText, toLookedUp, trigramsOf } from '../projections/text-search.ts';

type Query = <Row extends object>(sql: string, values: unknown[]) => Promise<readonly Row[]>;

const tableOf = ({ table }: Pick<Projection, 'table'>): string => quote(`${table}_text`);

export const createTextTable = (projection: Projection): string[] => [
  `DROP TABLE IF EXISTS ${tableOf(projection)}`,
  ...(projection.search === undefined
    ? []
    : [
        `CREATE TABLE ${tableOf(projection)} (
           scope TEXT COLLATE "C" NOT NULL, part TEXT COLLATE "C" NOT NULL,
           record_path TEXT COLLATE "C" NOT NULL, position BIGINT NOT NULL,
           PRIMARY KEY (scope, part, record_path, position))`,
      ]),
];

interface Posting {
  readonly scope: string;
  readonly part: string;
  readonly path: string;
  readonly position: number;
}

/** Parts of `text` that `other` does not have in the same scope. */
const partsOnlyIn = (text: ScopedText | undefined, other: ScopedText | undefined) => {
  if (text === undefined) return [];
  const known = new Set(
    other?.scope === text.scope ? trigramsOf(toIndexedText(other.text)) : undefined,
  );
  return trigramsOf(toIndexedText(text.text)).filter((part) => !known.has(part));
};

const postingsOf = (
  changes: readonly ProjectedChange[],
  toText: (
    change: ProjectedChange['texts'][number],
  ) => readonly [ScopedText | undefined, ScopedText | undefined],
): readonly Posting[] =>
  changes.flatMap(({ path, texts }) =>
    texts.flatMap((change) => {
      const [text, other] = toText(change);
      const { position } = change;
      return partsOnlyIn(text, other).map((part) => ({
        scope: text?.scope ?? '',
        part,
        path,
        position,
      }));
    }),
  );

const columns = (postings: readonly Posting[]): unknown[] => [
  postings.map(({ scope }) => scope),
  postings.map(({ part }) => part),
  postings.map(({ path }) => path),
  postings.map(({ position }) => position),
];

const POSTINGS = 'unnest($1::text[], $2::text[], $3::text[], $4::bigint[])';

/** @param changes of one projection, one for a record at most */
export const indexTexts = async (
  query: Query,
  projection: Projection,
  changes: readonly ProjectedChange[],
): Promise<void> => {
  const gone = postingsOf(changes, ({ before, after }) => [before, after]);
  if (gone.length > 0)
    await query(
      `DELETE FROM ${tableOf(projection)} WHERE (scope, part, record_path, position) IN
         (SELECT * FROM ${POSTINGS})`,
      columns(gone),
    );
  const come = postingsOf(changes, ({ before, after }) => [after, before]);
  if (come.length > 0)
    await query(
      `INSERT INTO ${tableOf(projection)} (scope, part, record_path, position)
       SELECT * FROM ${POSTINGS} ON CONFLICT DO NOTHING`,
      columns(come),
    );
};

/** Rows of the rarest trigram that are compared with the part at most, as a multiple of the limit. */
const COMPARED = 10;

/** Trigrams of which one is in every text that contains the part, and how many rows have one, at most. */
const chooseCandidates = async (
  query: Query,
  table: string,
  scope: string,
  lookedUp: readonly string[],
  bound: number,
): Promise<{ readonly candidates: readonly (string | undefined)[]; readonly total: number }> => {
  const isAlternative = lookedUp.length > 1;
  const parts = isAlternative ? lookedUp : trigramsOf(lookedUp[0] ?? '');
  const counted = await query<{ part: string; found: number | string }>(
    `SELECT wanted.part, (SELECT count(*) FROM (
       SELECT 1 FROM ${tableOf({ table })} AS posting
       WHERE posting.scope = $1 AND posting.part = wanted.part LIMIT $3) AS counted) AS found
     FROM unnest($2::text[]) AS wanted (part)`,
    [scope, parts, bound],
  );
  const [rarest] = counted.toSorted((a, b) => Number(a.found) - Number(b.found));
  return isAlternative
    ? { candidates: parts, total: counted.reduce((sum, { found }) => sum + Number(found), 0) }
    : { candidates: [rarest?.part], total: Number(rarest?.found ?? 0) };
};

/** Rows of a trigram that are counted to find the rarest. */
const MAX_COUNTED = 20_000;

/** @returns how many rows contain the part; undefined when it cannot be looked up */
export const countByPart = async (
  query: Query,
  { table, search }: { readonly table: string; readonly search: TextSearch },
  { scope, part }: { readonly scope: string; readonly part: string },
): Promise<number | undefined> => {
  const lookedUp = toLookedUp(part, search);
  if (lookedUp === undefined) return undefined;
  const { candidates } = await chooseCandidates(query, table, scope, lookedUp, MAX_COUNTED);
  const [row] = await query<{ matches: number | string }>(
    `SELECT count(*) AS matches FROM (
       SELECT DISTINCT record_path, position FROM ${tableOf({ table })}
       WHERE scope = $1 AND part = ANY($2::text[])) AS posting
     JOIN ${quote(table)} AS found
       ON found.record_path = posting.record_path AND found.position = posting.position
     WHERE strpos(chr(2) || found.${quote(search.column)} || chr(3), $3) > 0`,
    [scope, candidates, part],
  );
  return Number(row?.matches ?? 0);
};

/** @returns paths of the records; undefined when there are more than `limit`, or none can be looked up */
export const findByPart = async (
  query: Query,
  { table, search }: { readonly table: string; readonly search: TextSearch },
  { scope, part, limit }: { readonly scope: string; readonly part: string; readonly limit: number },
): Promise<readonly string[] | undefined> => {
  const lookedUp = toLookedUp(part, search);
  if (lookedUp === undefined) return undefined;
  const bound = limit * COMPARED + 1;
  const { candidates, total } = await chooseCandidates(query, table, scope, lookedUp, bound);
  if (total >= bound) return undefined;
  const rows = await query<{ record_path: string }>(
    `SELECT DISTINCT posting.record_path FROM ${tableOf({ table })} AS posting
     JOIN ${quote(table)} AS found
       ON found.record_path = posting.record_path AND found.position = posting.position
     WHERE posting.scope = $1 AND posting.part = ANY($2::text[]) AND found.${quote(search.scope)} = $1
       AND strpos(chr(2) || found.${quote(search.column)} || chr(3), $3) > 0
     LIMIT $4`,
    [scope, candidates, part, limit + 1],
  );
  return rows.length > limit ? undefined : rows.map((row) => row.record_path);
};
