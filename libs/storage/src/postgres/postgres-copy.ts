/** Copies of a store's database: read in a separate transaction; restoring one replaces all records. */
import type { PoolClient } from 'pg';
import type { OpenCopy, Replacement, StagedRow } from '../copies/copy-rows.ts';
import type { PostgresConnections } from './postgres-connections.ts';
import { fromPostgresError } from './postgres-errors.ts';

/**
 * A copy may be idle while it waits for the client that reads it, and for the copies of other services. The
 * gateway limits the total time.
 */
const IDLE_LIMIT = '6h';
/** One statement replaces all records. */
const REPLACE_LIMIT_MS = 30 * 60_000;

export const openPostgresCopy = async (connections: PostgresConnections): Promise<OpenCopy> => {
  const client = await connections.connect();
  let isOpen = true;
  const end = (isBroken: boolean): void => {
    if (!isOpen) return;
    isOpen = false;
    client.release(isBroken);
  };
  // A lost connection fails the next query too; without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await client.query(`SET LOCAL idle_in_transaction_session_timeout = '${IDLE_LIMIT}'`);
    const { rows } = await client.query<{ sequence: number }>('SELECT sequence FROM head');
    return {
      headSequence: Number(rows[0]?.sequence),
      scanRows: async ({ from, to }, limit) => {
        try {
          const page = await client.query<{ path: Buffer; stored: Buffer; version: number }>(
            `SELECT path, stored, version FROM record
             WHERE path >= $1 AND path < $2 ORDER BY path LIMIT $3`,
            [Buffer.from(from), Buffer.from(to), limit],
          );
          return page.rows.map((row) => ({ ...row, path: row.path.toString() }));
        } catch (error) {
          end(true);
          throw fromPostgresError(error);
        }
      },
      // The connection is discarded, because it may be in the middle of an answer.
      close: async () => end(true),
    };
  } catch (error) {
    end(true);
    throw fromPostgresError(error);
  }
};

const staging = (
  restoration: string,
  rows: readonly StagedRow[],
): { readonly text: string; readonly values: unknown[] } => ({
  text: `INSERT INTO staged_record (path, restoration, subpage, leaf, stored)
     SELECT path, $1, subpage, leaf, stored
     FROM unnest($2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[])
       AS staged (path, subpage, leaf, stored)
     ON CONFLICT (path) DO UPDATE SET restoration = excluded.restoration,
       subpage = excluded.subpage, leaf = excluded.leaf, stored = excluded.stored`,
  values: [
    restoration,
    rows.map(({ path }) => Buffer.from(path)),
    rows.map(({ digest }) => digest?.subpage ?? null),
    rows.map(({ digest }) => digest?.leaf ?? null),
    rows.map(({ stored }) => stored),
  ],
});

export const stageRecords = async (
  connections: PostgresConnections,
  restoration: string,
  rows: readonly StagedRow[],
): Promise<void> => {
  const { text, values } = staging(restoration, rows);
  await connections.query(text, values);
};

export const replaceRecords = async (
  client: PoolClient,
  { restoration, mark, headSequence }: Replacement,
): Promise<void> => {
  const run = (text: string, values: readonly unknown[] = []) =>
    client.query({ text, values: [...values], query_timeout: REPLACE_LIMIT_MS } as {
      text: string;
      values: unknown[];
    });
  const marking = staging(restoration, [mark]);
  await run(marking.text, marking.values);
  await run('DELETE FROM record');
  await run(
    `INSERT INTO record (path, version, subpage, leaf, stored)
     SELECT path, $1, subpage, leaf, stored FROM staged_record WHERE restoration = $2`,
    [headSequence, restoration],
  );
  for (const table of ['staged_record', 'wal', 'tree_page', 'projection'])
    await run(`DELETE FROM ${table}`);
  await run('UPDATE head SET sequence = $1, tree_position = 0', [headSequence]);
};
