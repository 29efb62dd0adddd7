/** The waits of a database server's connections during a load: for a lock, the disk, or the service. */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

const SAMPLE_EVERY_MS = 20;

export interface DatabaseWaits {
  /**
   * Connections that wait for each, on average: "Lock transactionid" (the head row, by which appends to a store follow
   * each other) 1.2, "IO WALSync" 0.4, "working" 0.3.
   */
  readonly connections: ReadonlyMap<string, number>;
  /** Flushes of the server's log: one for each group of commits. */
  readonly flushes: number;
}

const WAITS = `SELECT CASE WHEN state = 'idle in transaction' THEN 'service, in a transaction'
    ELSE coalesce(wait_event_type || ' ' || wait_event, 'working') END AS what, count(*)::int AS connections
  FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid() GROUP BY 1`;

/** Samples while `work` runs. */
export const whileSampling = async <T>(
  connectionString: string,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly waits: DatabaseWaits }> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const flushes = async (): Promise<number> => {
    const { rows } = await client.query<{ flushes: string }>(
      'SELECT wal_sync AS flushes FROM pg_stat_wal',
    );
    return Number(rows[0]?.flushes);
  };
  const seen = new Map<string, number>();
  let samples = 0;
  let isOver = false;
  try {
    const flushesBefore = await flushes();
    const sampling = (async () => {
      while (!isOver) {
        const { rows } = await client.query<{ what: string; connections: number }>(WAITS);
        for (const { what, connections } of rows)
          seen.set(what, (seen.get(what) ?? 0) + connections);
        samples += 1;
        await delay(SAMPLE_EVERY_MS);
      }
    })();
    const working = work().finally(() => {
      isOver = true;
    });
    const [result] = await Promise.all([working, sampling]);
    const byCount = [...seen].sort(([, a], [, b]) => b - a);
    const connections = new Map(byCount.map(([what, count]) => [what, count / samples]));
    return {
      result,
      waits: {
        connections,
        flushes: (await flushes()) - flushesBefore,
      },
    };
  } finally {
    await client.end();
  }
};
