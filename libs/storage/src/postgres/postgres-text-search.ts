/** Texts of projections in PostgreSQL: a GIN index of the extension pg_trgm, which LIKE uses. */
import type { Projection } from '../projections/projection.ts';
import { quote } from '../projections/projection-sql.ts';
import { isIndexable, type Searched } from '../projections/text-search.ts';
import type { PartCount, PartQuery } from '../store.ts';

type Query = <Row extends object>(sql: string, values: unknown[]) => Promise<readonly Row[]>;

export const createTextIndex = ({ table, search }: Projection): string[] =>
  search === undefined
    ? []
    : [
        `CREATE INDEX ${quote(`${table}_text`)} ON ${quote(table)}
           USING gin (${quote(search.column)} gin_trgm_ops)`,
      ];

const containing = (part: string): string => `%${part.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** @returns paths of the records; undefined when there are more than `limit`, or none can be looked up */
export const findByPart = async (
  query: Query,
  { table, search }: Searched,
  { scope, part, limit }: PartQuery,
): Promise<readonly string[] | undefined> => {
  if (!isIndexable(part)) return undefined;
  const rows = await query<{ record_path: string }>(
    `SELECT DISTINCT record_path FROM ${quote(table)}
     WHERE ${quote(search.scope)} = $1 AND ${quote(search.column)} LIKE $2 LIMIT $3`,
    [scope, containing(part), limit + 1],
  );
  return rows.length > limit ? undefined : rows.map((row) => row.record_path);
};

/** @returns the number of rows; undefined when the part cannot be looked up */
export const countByPart = async (
  query: Query,
  { table, search }: Searched,
  { scope, part }: PartCount,
): Promise<number | undefined> => {
  if (!isIndexable(part)) return undefined;
  const [row] = await query<{ matches: string }>(
    `SELECT count(*) AS matches FROM ${quote(table)}
     WHERE ${quote(search.scope)} = $1 AND ${quote(search.column)} LIKE $2`,
    [scope, containing(part)],
  );
  return Number(row?.matches);
};
