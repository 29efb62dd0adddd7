/** A standalone cluster that is given bad input from many connections, and what is noted of its answers. */
import { type Cluster, startCluster } from '@keelson/testkit/replication-cluster';
import type { ChaosContext, ChaosReport } from '../chaos.ts';
import { INSPECTED, type Inspector, inspect } from '../inspected.ts';
import { MAX_GROWTH_MEGABYTES } from '../live-memory.ts';
import { Random } from '../random.ts';

const CONNECTIONS = 16;
const PROGRESS_EVERY = 50_000;
const SHOWN_BROKEN = 50;
const INPUTS_PER_CLEANING = 5000;
const NO_NATS = { KEELSON_NATS_URL: '' };

/** What came of one input. */
export interface Outcome {
  /** Status, or another word for how it ended. */
  readonly kind: string;
  /** What was wrong with that, when something was. */
  readonly broken?: string;
}

export interface Trying {
  /** Sends the next input and waits for what comes of it. */
  readonly send: (
    cluster: Cluster,
    random: Random,
  ) => Promise<Outcome & { readonly input: string }>;
  /** Takes away what was accepted, so that the cluster stays as it was. */
  readonly clean?: (cluster: Cluster) => Promise<void>;
  /** Once before. */
  readonly prepare?: (cluster: Cluster) => Promise<void>;
}

/** Tells a slow server from a slow machine: a request that has nothing to do with the input. */
const isUp = async (cluster: Cluster): Promise<boolean> =>
  (await cluster.v1('GET', 'sys/health', undefined, '')).status === 200;

const tryOne = async (
  cluster: Cluster,
  inspector: Inspector,
  { count, seed, patienceMs, isOver, say }: ChaosContext,
  { send, clean }: Trying,
): Promise<ChaosReport> => {
  const outcomes = new Map<string, number>();
  const broken: string[] = [];
  let sent = 0;
  let slowestMs = 0;
  const sendUntil = async (wanted: number): Promise<void> => {
    const sending = async (connection: number): Promise<void> => {
      const random = new Random(seed + sent + connection);
      while (sent < wanted && !isOver()) {
        sent += 1;
        if (sent % PROGRESS_EVERY === 0) say(`${sent} sent, ${broken.length} broken`);
        const startedAt = performance.now();
        const { kind, broken: wrong, input } = await send(cluster, random);
        const ms = performance.now() - startedAt;
        slowestMs = Math.max(slowestMs, ms);
        outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
        if (wrong !== undefined) broken.push(`${wrong} for ${input}`);
        if (ms > patienceMs) broken.push(`${ms.toFixed(0)} ms for ${input}`);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => sending(index)));
  };
  const half = Math.floor(count / 2);
  const sendAll = async (upTo: number): Promise<void> => {
    while (sent < upTo && !isOver()) {
      await sendUntil(Math.min(upTo, sent + INPUTS_PER_CLEANING));
      await clean?.(cluster);
    }
  };
  await sendAll(half);
  const halfway = await inspector.look();
  await sendAll(count);
  if (!(await isUp(cluster))) broken.push('the server does not answer any more');
  const end = await inspector.look();
  const growth = end.liveMegabytes - halfway.liveMegabytes;
  if (growth > MAX_GROWTH_MEGABYTES) broken.push(`live memory grew by ${growth.toFixed(1)} MB`);
  return {
    broken: broken.slice(0, SHOWN_BROKEN),
    figures: {
      ...Object.fromEntries([...outcomes].sort(([one], [other]) => one.localeCompare(other))),
      'slowest, ms': slowestMs.toFixed(1),
      'growth of live memory, second half, MB': growth.toFixed(1),
      'open files, halfway and at the end': `${halfway.openFiles}, ${end.openFiles}`,
    },
  };
};

export const tryServer = async (context: ChaosContext, trying: Trying): Promise<ChaosReport> => {
  const cluster = await startCluster('', { ...NO_NATS, ...INSPECTED });
  try {
    await trying.prepare?.(cluster);
    const inspector = await inspect(cluster.process());
    const report = await tryOne(cluster, inspector, context, trying);
    inspector.close();
    return report;
  } finally {
    await cluster.stop();
  }
};
