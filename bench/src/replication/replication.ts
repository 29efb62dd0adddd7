import type { Bench, Figure, LatencySummary } from '../bench.ts';
import { measureLatency } from '../load.ts';
import { type Clusters, openClusters } from './clusters.ts';

const VALUE = Buffer.alloc(1200, 'k');
const WRITES_PER_SECOND = 1000;
const RECORDS_PER_COMMIT = 1000;
const DIFFERING = 1000;
const MILLISECONDS_PER_SECOND = 1000;

const percentiles = (milliseconds: number[]): LatencySummary => {
  const sorted = milliseconds.sort((a, b) => a - b);
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0;
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999) };
};

const pathOf = (index: number): string => `shared/bench/${index}`;

/** Sealed as the store would, and committed in large transactions. */
const fill = async ({ primary: { store, barrier } }: Clusters, count: number): Promise<number> => {
  const startedAt = performance.now();
  for (let from = 0; from < count; from += RECORDS_PER_COMMIT)
    await store.applyRecords(
      'bench',
      Array.from({ length: Math.min(RECORDS_PER_COMMIT, count - from) }, (_, index) => {
        const path = pathOf(from + index);
        return { path, stored: barrier.encrypt(path, VALUE) };
      }),
    );
  return count / ((performance.now() - startedAt) / MILLISECONDS_PER_SECOND);
};

const measureBootstrap = async (clusters: Clusters, count: number, localPerSecond: number) => {
  const startedAt = performance.now();
  clusters.startSecondary();
  await clusters.until(({ state }) => state === 'stream-wals');
  const seconds = (performance.now() - startedAt) / MILLISECONDS_PER_SECOND;
  return {
    name: `bootstrap of ${count} records`,
    value: count / seconds,
    unit: '/s',
    limit: { name: 'local store', value: localPerSecond },
  };
};

const measureLag = async (clusters: Clusters, seconds: number): Promise<Figure[]> => {
  const { store, bus } = clusters.primary;
  const ending = new AbortController();
  await bus.respond('bench.echo', async (payload) => payload, ending.signal);
  const roundTrip = await measureLatency(
    () => bus.request('bench.echo', VALUE, { timeoutMs: 5000 }),
    WRITES_PER_SECOND,
    seconds,
  );
  ending.abort();
  const lags: number[] = [];
  let written = 0;
  const write = async (): Promise<void> => {
    await store.transact((tx) => tx.write(`shared/live/${written++}`, VALUE));
    const committedAt = performance.now();
    const sequence = await store.wal.headSequence();
    await clusters.untilApplied(sequence);
    lags.push(performance.now() - committedAt);
  };
  await measureLatency(write, WRITES_PER_SECOND, seconds / 4);
  lags.length = 0;
  await measureLatency(write, WRITES_PER_SECOND, seconds);
  const lag = percentiles(lags);
  return [
    {
      name: `lag at ${WRITES_PER_SECOND} writes/s`,
      value: lag.p50,
      unit: 'ms',
      limit: { name: 'NATS round trip', value: roundTrip.p50 },
      latencyMilliseconds: lag,
    },
  ];
};

const measureApplying = async (clusters: Clusters, count: number): Promise<Figure> => {
  const { store } = clusters.primary;
  const publishing = Promise.all(
    Array.from({ length: 100 }, async (_, caller) => {
      for (let at = caller; at < count; at += 100)
        await store.transact((tx) => tx.write(`shared/applied/${at}`, VALUE));
    }),
  );
  const from = clusters.status().lastRemoteWal;
  const startedAt = performance.now();
  await publishing;
  const head = await store.wal.headSequence();
  await clusters.until(({ lastRemoteWal }) => lastRemoteWal >= head);
  const seconds = (performance.now() - startedAt) / MILLISECONDS_PER_SECOND;
  return {
    name: 'commit, publish and apply, 100 callers',
    value: (head - from) / seconds,
    unit: '/s',
  };
};

const measureResync = async (clusters: Clusters, count: number): Promise<Figure[]> => {
  const { store } = clusters.primary;
  await store.transact((tx) => {
    for (let index = 0; index < DIFFERING; index += 1)
      tx.write(pathOf(Math.floor((index * count) / DIFFERING)), Buffer.alloc(1200, 'x'));
  });
  const { bytesReceived } = clusters.status();
  const startedAt = performance.now();
  await clusters.publish();
  await clusters.until(({ state }) => state === 'merkle-sync');
  await clusters.until(({ state }) => state === 'stream-wals');
  return [
    {
      name: `resync of ${DIFFERING} among ${count} records`,
      value: (performance.now() - startedAt) / MILLISECONDS_PER_SECOND,
      unit: 's',
    },
    {
      name: 'received for it',
      value: (clusters.status().bytesReceived - bytesReceived) / 1e6,
      unit: 'MB',
      limit: { name: 'the differing records', value: (DIFFERING * VALUE.length) / 1e6 },
    },
  ];
};

export const replication: Bench = {
  name: 'replication',
  claim:
    'P10 lag p50 ≤ 5 ms, p99 ≤ 30 ms at 1,000 writes/s; P11 ≥ 10,000 records/s applied, 1,000,000 copied ' +
    'in ≤ 100 s; P12 1,000 of 1,000,000 synchronised in ≤ 3 s with ≤ 3 × their bytes + 2 MB',
  method:
    'Primary and secondary on SQLite in this one process, which shares its CPU among them, over a ' +
    'nats-server; records of 1.2 KB. Lag runs from commit to applied on disk.',
  run: async ({ quick, say, records }) => {
    const count = records ?? (quick ? 3000 : 1_000_000);
    await using clusters = await openClusters();
    say(`${count} records`);
    const localPerSecond = await fill(clusters, count);
    const publishing = await clusters.publish();
    say('bootstrap');
    const bootstrap = await measureBootstrap(clusters, count, localPerSecond);
    say('lag');
    const lag = await measureLag(clusters, quick ? 0.3 : 5);
    say('apply');
    const applied = await measureApplying(clusters, quick ? 1000 : 50_000);
    await publishing.stop();
    say('resync');
    const resync = await measureResync(clusters, count);
    return [...lag, bootstrap, applied, ...resync];
  },
};
