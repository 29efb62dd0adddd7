import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createBarrier, openBarrierFor, openSqliteStore, type Store } from '@keelson/storage';
import type { Bench, Figure } from '../bench.ts';
import { measureLatency, measureThroughput } from '../load.ts';

const VALUE = Buffer.alloc(1200, 'k');
const GROUP = 100;
const COMMITS_PER_SECOND = 1_000;
/** Less than the memory for decrypted records, so that the second round of reads is served from it. */
const CACHED_RECORDS = 2_000;

/** CPU of this process per call, and calls per second. */
const measure = async (
  name: string,
  callers: number,
  seconds: number,
  operation: () => Promise<unknown>,
): Promise<Figure> => {
  await measureThroughput(operation, callers, seconds / 4);
  const before = process.cpuUsage();
  const { operations, perSecond } = await measureThroughput(operation, callers, seconds);
  const { user, system } = process.cpuUsage(before);
  return {
    name,
    value: perSecond,
    unit: '/s',
    cpuMicrosecondsPerOperation: (user + system) / operations,
  };
};

/** A record and a log row in plain SQLite with a flush in every commit: the basis of the store. */
const measureBareSqlite = async (file: string, seconds: number): Promise<Figure> => {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;
    CREATE TABLE record (path TEXT PRIMARY KEY, stored BLOB, version INTEGER);
    CREATE TABLE wal (sequence INTEGER PRIMARY KEY, operations BLOB)`);
  const putRecord = database.prepare('INSERT INTO record VALUES (?, ?, ?)');
  const append = database.prepare('INSERT INTO wal VALUES (?, ?)');
  let sequence = 0;
  const figure = await measure('bare SQLite, groups of 100', 1, seconds, async () => {
    database.exec('BEGIN');
    for (let count = 0; count < GROUP; count += 1) {
      sequence += 1;
      putRecord.run(`shared/bench/${sequence}`, VALUE, sequence);
      append.run(sequence, VALUE);
    }
    database.exec('COMMIT');
  });
  database.close();
  return {
    ...figure,
    value: figure.value * GROUP,
    cpuMicrosecondsPerOperation: (figure.cpuMicrosecondsPerOperation ?? 0) / GROUP,
  };
};

const measureStore = async (store: Store, bare: Figure, seconds: number): Promise<Figure[]> => {
  let created = 0;
  const create = (): Promise<void> =>
    store.transact(async (tx) => {
      const path = `shared/bench/${created++}`;
      if ((await tx.read(path)) === undefined) tx.write(path, VALUE);
    });
  const creating = await measure('create, 100 callers', GROUP, seconds, create);
  const alone = await measure('create, 1 caller', 1, seconds, create);
  const latencyMilliseconds = await measureLatency(create, COMMITS_PER_SECOND, seconds);

  let read = 0;
  // A stride longer than what the cache holds reads each record from the file.
  const uncached = await measure('read from the file', 1, seconds, () =>
    store.read(`shared/bench/${(read += 7919) % created}`),
  );
  const cached = await measure('read again', 1, seconds, () =>
    store.read(`shared/bench/${read++ % CACHED_RECORDS}`),
  );
  return [
    { ...creating, latencyMilliseconds, limit: { name: bare.name, value: bare.value } },
    alone,
    uncached,
    cached,
    bare,
  ];
};

export const storage: Bench = {
  name: 'storage',
  claim: 'record and log entry of 1.2 KB in groups of 100 at 43 µs of CPU; a read at 9 µs',
  method:
    'One store on SQLite in this process: read for absence and create by 100 callers and by one, latency ' +
    `at ${COMMITS_PER_SECOND} commits/s, reads by one caller; and in the same run plain SQLite, flushing each group of 100.`,
  run: async ({ quick, say }) => {
    const seconds = quick ? 0.2 : 4;
    const folder = await mkdtemp(join(tmpdir(), 'keelson-bench-'));
    try {
      say('bare SQLite');
      const bare = await measureBareSqlite(join(folder, 'bare.db'), seconds);
      say('the store');
      const barrier = createBarrier();
      const store = await openSqliteStore({ file: join(folder, 'store.db'), barrier });
      await openBarrierFor(store, barrier, new Uint8Array(32).fill(1));
      const figures = await measureStore(store, bare, seconds);
      await store.close();
      return figures;
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};
