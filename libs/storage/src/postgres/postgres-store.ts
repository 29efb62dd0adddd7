import { type Clock, systemClock } from '@keelson/clock';
import pg from 'pg';
import { requireFormat } from '../backend.ts';
import type { Barrier } from '../barrier/barrier.ts';
import type { Projection } from '../projections/projection.ts';
import { DEFAULT_CACHE_BYTES, shareCache } from '../reading/cache-shares.ts';
import { RecordStore } from '../record-store.ts';
import type { Store } from '../store.ts';
import { Wakeup } from '../wal/wakeup.ts';
import { PostgresBackend } from './postgres-backend.ts';
import { fromPostgresError } from './postgres-errors.ts';
import { POSTGRES_FORMAT, POSTGRES_SCHEMA } from './postgres-schema.ts';

/** OID of BIGINT; sequences and times stay below 2^53. */
const INT8 = 20;

const CONNECTION_COUNT = 8;
const CONNECT_TIMEOUT_MS = 5_000;
/** Also frees the head row when a replica disappears with its lock. */
const QUERY_TIMEOUT_MS = 15_000;
/**
 * Interval at which followers look for commits of other replicas; commits of this process wake them
 * at once.
 */
const POLL_MS = 20;

export interface PostgresStoreOptions {
  readonly connectionString: string;
  readonly barrier: Barrier;
  readonly clock?: Clock;
  readonly projections?: readonly Projection[];
  /** Memory for the caches of the store; 40 MiB. */
  readonly cacheBytes?: number;
  readonly connectionCount?: number;
}

/**
 * Opens or creates the store in its own database. Several replicas may have it open. While the
 * server cannot be reached every operation fails with `storage.unavailable`; it needs no reopening.
 * @throws KeelsonError `storage.unavailable`, `storage.read_only`, `storage.unknown_format`
 */
export const openPostgresStore = async (options: PostgresStoreOptions): Promise<Store> => {
  const {
    barrier,
    clock = systemClock,
    projections = [],
    cacheBytes = DEFAULT_CACHE_BYTES,
  } = options;
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    max: options.connectionCount ?? CONNECTION_COUNT,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    idle_in_transaction_session_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    types: {
      getTypeParser: (oid, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)),
    },
  });
  // An idle connection that is lost is replaced at the next use.
  pool.on('error', () => undefined);
  try {
    await requireKnownFormat(pool);
    await createSchema(pool);
    const backend = new PostgresBackend(pool);
    const grown = new Wakeup(POLL_MS);
    return new RecordStore(
      { backend, barrier, clock, projections, cache: shareCache(cacheBytes), grown },
      await backend.headSequence(),
    );
  } catch (error) {
    await pool.end();
    throw fromPostgresError(error);
  }
};

/** Before anything is written to the tables, which may be those of another version of Keelson. */
const requireKnownFormat = async (pool: pg.Pool): Promise<void> => {
  const columns = await pool.query<{ column_name: string }>(
    `SELECT column_name FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = 'head'`,
  );
  if (columns.rows.length === 0) return;
  const isNamed = columns.rows.some(({ column_name: name }) => name === 'format');
  const { rows } = isNamed
    ? await pool.query<{ format: number }>('SELECT format FROM head')
    : { rows: [{ format: 1 }] };
  // Another replica may have created the table but not its row yet.
  if (rows[0] !== undefined) requireFormat(rows[0].format, POSTGRES_FORMAT);
};

/** Replicas that start together collide while creating the same table; the second attempt finds it. */
const createSchema = async (pool: pg.Pool): Promise<void> => {
  for (const statement of POSTGRES_SCHEMA)
    await pool.query(statement).catch(() => pool.query(statement));
};
