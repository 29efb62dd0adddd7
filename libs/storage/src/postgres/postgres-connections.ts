/**
 * Connections to the server that takes writes, one of those in the connection string:
 * `postgres://user:password@first:5432,second:5432/database`, in the syntax of libpq. Connections keep no state
 * between two transactions, so they may lead through a pooler (PgBouncer with `pool_mode=transaction`).
 */
import { callbackify } from 'node:util';
import { hasCode, KeelsonError } from '@keelson/errors';
import pg from 'pg';
import { StoreFaults } from '../store-faults.ts';
import { fromPostgresError } from './postgres-errors.ts';

/** OID of BIGINT; sequences and times stay below 2^53. */
const INT8 = 20;

const CONNECTION_COUNT = 8;
const CONNECT_TIMEOUT_MS = 5_000;
/** Enforced by the client, because a pooler does not pass on session settings. */
const QUERY_TIMEOUT_MS = 15_000;
/** Releases the head row when a replica that has locked it disappears. */
const IDLE_LIMIT = `SET LOCAL idle_in_transaction_session_timeout = ${QUERY_TIMEOUT_MS}`;
/** A failure that took longer than this is reported instead of retried. */
const REPEAT_WITHIN_MS = 2_000;

/**
 * A connection string with which the server must prove its name by a certificate.
 * @param authorityFile authorities of the certificate (PEM); undefined leaves the string as it is
 */
export const withAuthority = (
  connectionString: string,
  authorityFile: string | undefined,
): string =>
  authorityFile === undefined
    ? connectionString
    : `${connectionString}${connectionString.includes('?') ? '&' : '?'}sslmode=verify-full&sslrootcert=${encodeURIComponent(authorityFile)}`;

/** One connection string for each server that `connectionString` names. */
export const connectionStringsOf = (connectionString: string): readonly string[] => {
  const start = connectionString.indexOf('://') + '://'.length;
  const length = connectionString.slice(start).search(/[/?]/);
  const end = length === -1 ? connectionString.length : start + length;
  const user = connectionString.slice(start, end).lastIndexOf('@') + 1;
  return connectionString
    .slice(start + user, end)
    .split(',')
    .map((host) => connectionString.slice(0, start + user) + host + connectionString.slice(end));
};

/** A standby, or a server that is switching roles, has read-only transactions. */
const requireWritable = async (client: pg.ClientBase): Promise<void> => {
  const { rows } = await client.query<{ transaction_read_only: string }>(
    'SHOW transaction_read_only',
  );
  if (rows[0]?.transaction_read_only === 'on')
    throw new KeelsonError('storage.unavailable', { reason: 'the server takes no writes' });
};

const openPool = (connectionString: string, max: number): pg.Pool => {
  const pool = new pg.Pool({
    connectionString,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    // Statements are sent without waiting for the answer to those before them.
    pipeline: true,
    types: {
      getTypeParser: (oid, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)),
    },
    verify: callbackify(requireWritable),
  });
  // An idle connection that is lost is replaced at the next use.
  pool.on('error', () => undefined);
  return pool;
};

/** A lost connection fails the next query too; without a listener it would end the process. */
const ignoreLoss = (): void => undefined;

export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/**
 * Sends the last statements of a transaction together with COMMIT, so that its locks are held for one round trip less
 * for each. PostgreSQL rolls back if one of them is refused. It warns when it confirms a commit without its standby
 * because the wait was cancelled.
 * @throws KeelsonError `storage.outcome_unknown` then, and when the connection is lost
 */
const finish = async (client: pg.PoolClient, statements: readonly Statement[]): Promise<void> => {
  let warning: Error | undefined;
  const listen = ({ message }: { readonly message?: string | undefined }): void => {
    warning = new Error(message);
  };
  client.on('notice', listen);
  const sent = statements.map(({ sql, values }) => client.query(sql, [...values]));
  const commit = client.query('COMMIT');
  const results = await Promise.allSettled([...sent, commit]);
  client.off('notice', listen);
  const failed = results.findIndex(({ status }) => status === 'rejected');
  const result = results[failed];
  const cause: unknown = result?.status === 'rejected' ? result.reason : warning;
  if (cause === undefined) return;
  const error = fromPostgresError(cause);
  const isRefused = failed !== -1 && failed < sent.length && !hasCode(error, 'storage.unavailable');
  throw isRefused ? error : new KeelsonError('storage.outcome_unknown', {}, { cause });
};

export class PostgresConnections {
  readonly faults = new StoreFaults();
  /** One for each server. */
  readonly #pools: pg.Pool[];
  readonly #openPool: (at: number) => pg.Pool;
  /** The server that most recently took writes. */
  #current = 0;
  readonly #queries = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(connectionString: string, connectionCount = CONNECTION_COUNT) {
    const servers = connectionStringsOf(connectionString);
    this.#openPool = (at) => openPool(servers[at] ?? '', connectionCount);
    this.#pools = servers.map((_, at) => this.#openPool(at));
  }

  /** Runs one statement, which may take effect twice. @returns its rows */
  async query<Row extends object>(sql: string, values: unknown[] = []): Promise<readonly Row[]> {
    const query = this.#repeatLost((pool) => pool.query<Row>(sql, values));
    this.#queries.add(query);
    try {
      return (await query).rows;
    } finally {
      this.#queries.delete(query);
    }
  }

  /** A connection, which the caller releases. */
  connect(): Promise<pg.PoolClient> {
    return this.#repeatLost((pool) => pool.connect());
  }

  /**
   * Runs `work` in a transaction. Nothing is written if it fails, unless the code is `storage.outcome_unknown`: then
   * the connection was lost during the commit.
   * @param opening first statement, sent together with BEGIN; its rows are passed to `work`
   * @param work may return last statements, which are sent together with COMMIT
   */
  async transaction<Row extends object>(
    opening: string,
    work: (client: pg.PoolClient, rows: readonly Row[]) => Promise<readonly Statement[] | void>,
  ): Promise<void> {
    const { client, rows } = await this.#repeatLost((pool) => this.#begin<Row>(pool, opening));
    try {
      const last = await work(client, rows);
      await finish(client, last ?? []);
    } catch (error) {
      client.release(true);
      throw this.faults.note(fromPostgresError(error));
    }
    client.off('error', ignoreLoss);
    client.release();
  }

  /** Waits for running queries first, because an ending pool never serves waiting queries. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.faults.close();
    await Promise.allSettled(this.#queries);
    await Promise.all(this.#pools.map((pool) => pool.end()));
  }

  async #begin<Row extends object>(pool: pg.Pool, opening: string) {
    const client = await pool.connect();
    client.on('error', ignoreLoss);
    try {
      // A query of several statements has one result for each; the types do not include this.
      const results: unknown = await client.query(`BEGIN; ${IDLE_LIMIT}; ${opening}`);
      const rows = (results as readonly pg.QueryResult<Row>[]).at(-1)?.rows ?? [];
      return { client, rows };
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /** Continues with new connections to the next server, because the idle ones are probably lost as well. */
  #leave(at: number, pool: pg.Pool): void {
    if (this.#pools[at] !== pool) return;
    this.#pools[at] = this.#openPool(at);
    this.#current = (at + 1) % this.#pools.length;
    // Delayed, because an ending pool never serves waiting queries. By then they have had a connection or given up.
    setTimeout(() => void pool.end().catch(() => undefined), CONNECT_TIMEOUT_MS).unref();
  }

  /** Repeats, on another connection, work that failed because its connection was lost: at most once per server, plus once. */
  async #repeatLost<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T> {
    const startedAtMs = performance.now();
    for (let repetitions = 0; ; repetitions += 1) {
      if (this.#isClosed) throw new KeelsonError('storage.unavailable');
      const at = this.#current;
      // The index is always valid.
      const pool = this.#pools[at] as pg.Pool;
      try {
        return await work(pool);
      } catch (cause) {
        const error = this.faults.note(fromPostgresError(cause));
        if (!hasCode(error, 'storage.unavailable')) throw error;
        this.#leave(at, pool);
        const isLate = performance.now() - startedAtMs > REPEAT_WITHIN_MS;
        if (isLate || repetitions === this.#pools.length) throw error;
      }
    }
  }
}
