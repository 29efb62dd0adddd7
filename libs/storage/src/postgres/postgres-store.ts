import { type Clock, systemClock } from '@keelson/clock';
import { requireFormat } from '../backend.ts';
import type { Barrier } from '../barrier/barrier.ts';
import type { RecordKind } from '../collections/codec.ts';
import { RecordVersions } from '../collections/record-versions.ts';
import { declaredKinds } from '../collections/table.ts';
import type { Projection } from '../projections/projection.ts';
import { DEFAULT_CACHE_BYTES, shareCache } from '../reading/cache-shares.ts';
import { RecordStore } from '../record-store.ts';
import type { Store } from '../store.ts';
import { LogGrowth } from '../wal/log-growth.ts';
import { PostgresBackend } from './postgres-backend.ts';
import { PostgresConnections, withAuthority } from './postgres-connections.ts';
import { LATER_COLUMNS, POSTGRES_FORMAT, POSTGRES_SCHEMA } from './postgres-schema.ts';

/**
 * Interval at which followers look for commits of other replicas; commits of this process wake them
 * at once.
 */
const POLL_MS = 20;

export interface PostgresStoreOptions {
  /** With several hosts, the one that takes writes is used: postgres://user@first:5432,second:5432/name. */
  readonly connectionString: string;
  /** Authorities of the server's certificate; connections then use TLS. */
  readonly authorityFile?: string | undefined;
  readonly barrier: Barrier;
  readonly clock?: Clock;
  readonly projections?: readonly Projection[];
  /** Kinds of records that this process knows; all that its modules declare by default. */
  readonly kinds?: readonly RecordKind[];
  /** Memory for the caches of the store; 40 MiB. */
  readonly cacheBytes?: number;
  readonly connectionCount?: number;
}

/**
 * Opens or creates the store in its own database. Several replicas may have it open. While the
 * server cannot be reached every operation fails with `storage.unavailable`; it needs no reopening.
 * @throws KeelsonError `storage.unavailable`, `storage.read_only`, `storage.unknown_format`,
 *   `storage.superseded`
 */
export const openPostgresStore = async (options: PostgresStoreOptions): Promise<Store> => {
  const {
    barrier,
    clock = systemClock,
    projections = [],
    kinds = declaredKinds(),
    cacheBytes = DEFAULT_CACHE_BYTES,
  } = options;
  const connections = new PostgresConnections(
    withAuthority(options.connectionString, options.authorityFile),
    options.connectionCount,
  );
  try {
    await requireKnownFormat(connections);
    await createSchema(connections);
    const versions = new RecordVersions(kinds);
    const backend = new PostgresBackend(connections, versions);
    await writeFirstVersions(connections, versions);
    const sequence = await backend.headSequence();
    versions.requireKnown();
    const grown = new LogGrowth(POLL_MS);
    return new RecordStore(
      { backend, barrier, clock, projections, cache: shareCache(cacheBytes), grown },
      sequence,
    );
  } catch (error) {
    await connections.close();
    throw error;
  }
};

/** Before anything is written to the tables, which may be those of another version of Keelson. */
const requireKnownFormat = async (connections: PostgresConnections): Promise<void> => {
  const columns = await connections.query<{ column_name: string }>(
    `SELECT column_name FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = 'head'`,
  );
  if (columns.length === 0) return;
  const isNamed = columns.some(({ column_name: name }) => name === 'format');
  const rows = isNamed
    ? await connections.query<{ format: number }>('SELECT format FROM head')
    : [{ format: 1 }];
  // Another replica may have created the table but not its row yet.
  if (rows[0] !== undefined) requireFormat(rows[0].format, POSTGRES_FORMAT);
};

/** A new store has no records of older versions, and no process that knows only them. */
const writeFirstVersions = async (
  connections: PostgresConnections,
  { own }: RecordVersions,
): Promise<void> => {
  await connections.query(
    "UPDATE head SET record_versions = $1 WHERE sequence = 0 AND record_versions = ''",
    [own],
  );
};

/** Replicas that start together collide while creating the same table; the second attempt finds it. */
const createSchema = async (connections: PostgresConnections): Promise<void> => {
  for (const statement of POSTGRES_SCHEMA)
    await connections.query(statement).catch(() => connections.query(statement));
  // Asked first, because the statement waits for everything that uses the table, also if there is the column.
  const columns = await connections.query<{ column_name: string }>(
    `SELECT column_name FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = 'head'`,
  );
  const names = columns.map((column) => column.column_name);
  for (const [name, definition] of Object.entries(LATER_COLUMNS))
    if (!names.includes(name))
      await connections.query(`ALTER TABLE head ADD COLUMN IF NOT EXISTS ${name} ${definition}`);
};
