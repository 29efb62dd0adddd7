/** Examines a PostgreSQL database without changing it. */
import pg from 'pg';
import { withAuthority } from './postgres-connections.ts';
import { fromPostgresError } from './postgres-errors.ts';
import { POSTGRES_FORMAT } from './postgres-schema.ts';

export interface DatabaseFacts {
  /** Such as "15.14". */
  readonly serverVersion: string;
  /** A standby, or `default_transaction_read_only`. */
  readonly isReadOnly: boolean;
  /** Server settings on which durability depends: "on", "off", "local", … */
  readonly settings: Readonly<Record<'fsync' | 'full_page_writes' | 'synchronous_commit', string>>;
  /** Undefined if the database has no store yet. */
  readonly store:
    | {
        readonly format: number;
        readonly sequence: number;
        /** Number of staged records of a restoration that is unfinished or not yet removed. */
        readonly stagedRecords: number;
      }
    | undefined;
  readonly knownFormat: number;
  /** Names of invalid indexes, such as an interrupted REINDEX leaves. */
  readonly invalidIndexes: readonly string[];
  /** Whether the extension for searches is installed or available. */
  readonly hasTrigrams: boolean;
  readonly sizeBytes: number;
  readonly connections: { readonly used: number; readonly limit: number };
}

const TIMEOUT_MS = 10_000;

/** @throws KeelsonError `storage.unavailable` */
export const examineDatabase = async (
  connectionString: string,
  authorityFile?: string,
): Promise<DatabaseFacts> => {
  const client = new pg.Client({
    connectionString: withAuthority(connectionString, authorityFile),
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  const one = async (sql: string): Promise<Record<string, unknown>> =>
    (await client.query<Record<string, unknown>>(sql)).rows[0] ?? {};
  const namesOf = async (sql: string): Promise<readonly string[]> =>
    (await client.query<{ name: string }>(sql)).rows.map(({ name }) => name);
  try {
    await client.connect();
    const server = await one(
      `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
         current_setting('full_page_writes') AS full_page_writes,
         current_setting('synchronous_commit') AS synchronous_commit,
         pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool AS read_only,
         pg_database_size(current_database())::float8 AS size,
         (SELECT count(*)::int FROM pg_stat_activity) AS used,
         current_setting('max_connections')::int AS max`,
    );
    const tables = new Set(
      await namesOf(
        'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()',
      ),
    );
    const head = tables.has('head')
      ? await one(
          `SELECT format::float8, sequence::float8,
             (SELECT count(*)::float8 FROM staged_record) AS staged FROM head`,
        )
      : undefined;
    return {
      serverVersion: String(server['version']).split(' ')[0] ?? '',
      isReadOnly: server['read_only'] === true,
      settings: {
        fsync: String(server['fsync']),
        full_page_writes: String(server['full_page_writes']),
        synchronous_commit: String(server['synchronous_commit']),
      },
      store: head && {
        format: Number(head['format']),
        sequence: Number(head['sequence']),
        stagedRecords: Number(head['staged']),
      },
      knownFormat: POSTGRES_FORMAT,
      invalidIndexes: await namesOf(
        `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
         WHERE NOT i.indisvalid`,
      ),
      hasTrigrams:
        (await namesOf("SELECT name FROM pg_available_extensions WHERE name = 'pg_trgm'")).length >
        0,
      sizeBytes: Number(server['size']),
      connections: { used: Number(server['used']), limit: Number(server['max']) },
    };
  } catch (error) {
    throw fromPostgresError(error);
  } finally {
    await client.end().catch(() => undefined);
  }
};
