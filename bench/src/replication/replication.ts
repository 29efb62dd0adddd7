import { setTimeout as delay } from 'node:timers/promises';
import { attach, follow, generateRoot, untilEqual } from '@keelson/testkit/replication-cluster';
import type { Bench, Figure } from '../bench.ts';
import { processUsage } from '../child-process.ts';
import { openCaller } from './calls.ts';
import {
  type Clusters,
  fill,
  KIND,
  makeDiffer,
  measureLocalWrites,
  openClusters,
  RECORD_BYTES,
  untilIdle,
} from './clusters.ts';
import { measureLag } from './lag.ts';

const DIFFERING = 1000;
const MOST_APPLIED = 100_000;
const WRITERS = 64;
const POLL_MS = 5;
const ROLE = { allowed_domains: 'example.com', key_type: 'ec' };

const secondsSince = (startedAt: number): number => (performance.now() - startedAt) / 1000;

const prepare = async ({ primary }: Clusters): Promise<void> => {
  await primary.v1('POST', 'sys/mounts/pki', { type: 'pki' });
  while ((await primary.v1('LIST', 'pki/roles')).status !== 404) await delay(POLL_MS);
};

const measureBootstrap = async (
  { primary, secondary }: Clusters,
  count: number,
  localPerSecond: number,
): Promise<readonly Figure[]> => {
  await primary.v1('POST', `sys/replication/${KIND}/primary/enable`);
  await untilIdle(primary);
  const startedAt = performance.now();
  await attach(KIND, primary, secondary, 'secondary');
  const seconds = secondsSince(startedAt);
  secondary.token = await generateRoot(secondary, primary.shares);
  const limit = { name: 'local store, 1,000 a commit', value: localPerSecond };
  const { peakMemoryMegabytes } = processUsage(secondary.process().pid);
  return [
    { name: `P11 bootstrap of ${count} records`, value: seconds, unit: 's' },
    { name: 'P11 bootstrap', value: count / seconds, unit: '/s', limit, peakMemoryMegabytes },
  ];
};

/** Writes roles, as clients do, while the secondary is stopped. */
const writeRoles = async ({ primary }: Clusters, count: number): Promise<void> => {
  const writer = openCaller(`${primary.process().http}/v1`, primary.token, WRITERS);
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, caller) => {
      for (let at = caller; at < count; at += WRITERS) {
        const { status } = await writer.call('POST', `pki/roles/applied-${at}`, ROLE);
        if (status !== 200) throw new Error(`a write was answered ${status}`);
      }
    }),
  );
  writer.close();
  await untilIdle(primary);
};

/** The secondary is stopped, and started again. */
const measureApplying = async (
  { primary, secondary }: Clusters,
  count: number,
  localPerSecond: number,
): Promise<readonly Figure[]> => {
  const wanted: number = (await primary.status(KIND)).last_wal;
  const startedAt = performance.now();
  await secondary.restart();
  const { pid } = secondary.process();
  const applied = async (): Promise<number> => (await secondary.status(KIND)).last_remote_wal ?? 0;
  // Applying starts before the first query can succeed; entries and time until then are not counted.
  const first = await applied();
  const seenAt = performance.now();
  const cpuBefore = processUsage(pid).cpuMicroseconds;
  let last = first;
  while (last < wanted) {
    await delay(POLL_MS);
    last = await applied();
  }
  const cpu = processUsage(pid).cpuMicroseconds - cpuBefore;
  const isSeen = last > first;
  const seconds = isSeen ? secondsSince(seenAt) : secondsSince(startedAt);
  const entries = isSeen ? last - first : count;
  return [
    {
      name: `P11 apply, ${entries} of ${count} records seen`,
      value: entries / seconds,
      unit: '/s',
      limit: { name: 'local store, 1 a commit, 64 callers', value: localPerSecond },
      cpuMicrosecondsPerOperation: cpu / entries,
      peakMemoryMegabytes: processUsage(pid).peakMemoryMegabytes,
    },
    { name: 'from its start to caught up', value: secondsSince(startedAt), unit: 's' },
  ];
};

/** An operator makes the secondary follow again with a new link, so that everything is compared. */
const measureResync = async (
  { primary, secondary }: Clusters,
  count: number,
  differing: number,
): Promise<readonly Figure[]> => {
  await untilIdle(secondary);
  const startedAt = performance.now();
  await follow(KIND, primary, secondary, 'again');
  const seconds = secondsSince(startedAt);
  const status = await secondary.status(KIND);
  await untilEqual(KIND, primary, secondary);
  return [
    { name: `P12 resync of ${differing} among ${count} records`, value: seconds, unit: 's' },
    {
      name: 'P12 received for it',
      value: Number(status.resync_bytes) / 1e6,
      unit: 'MB',
      limit: { name: 'the differing records', value: (differing * RECORD_BYTES) / 1e6 },
    },
    { name: 'P12 records fetched', value: Number(status.resync_records), unit: '' },
  ];
};

export const replication: Bench = {
  name: 'replication',
  claim:
    'P10 lag p50 ≤ 6 ms, p99 ≤ 40 ms at 1,000 writes/s; P11 ≥ 10,000 records/s applied, 1,000,000 copied ' +
    'in ≤ 100 s; P12 1,000 of 1,000,000 synchronised in ≤ 5 s with ≤ 6 MB',
  method:
    'Two standalone processes over a nats-server, asked over HTTP. Copied and compared are records of ' +
    '1.2 KB that are in the primary before it replicates. Lag: from the answer to a write there to the ' +
    'answer to a read here with its index, one write in ten. Applied are roles that clients wrote, each a ' +
    'commit, while the secondary was stopped; the primary does nothing meanwhile. For the resync records ' +
    'of the secondary are changed while it is stopped, then update-primary has it compare.',
  run: async ({ quick, say, records }) => {
    const count = records ?? (quick ? 3000 : 1_000_000);
    const appliedCount = quick ? 300 : Math.min(MOST_APPLIED, count);
    const differing = quick ? 30 : DIFFERING;
    say(`local store, ${appliedCount} records`);
    const localPerSecond = await measureLocalWrites(appliedCount);
    await using clusters = await openClusters();
    await prepare(clusters);
    say(`${count} records`);
    const filledPerSecond = await fill(clusters.primary, count);
    await clusters.primary.restart();
    say('bootstrap');
    const bootstrap = await measureBootstrap(clusters, count, filledPerSecond);
    say('lag');
    const lag = await measureLag(clusters, quick ? 0.3 : 20);
    await makeDiffer(clusters.secondary, differing, count);
    say(`${appliedCount} roles while the secondary is stopped`);
    await writeRoles(clusters, appliedCount);
    say('apply');
    const applied = await measureApplying(clusters, appliedCount, localPerSecond);
    say('resync');
    const resync = await measureResync(clusters, count, differing);
    return [...lag, ...bootstrap, ...applied, ...resync];
  },
};
