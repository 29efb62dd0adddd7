/** A standalone cluster that gets bad input from many connections, and the record of its responses. */
import { type Cluster, startCluster } from '@keelson/testkit/replication-cluster';
import type { ChaosContext, ChaosReport } from '../chaos.ts';
import { INSPECTED, type Inspector, inspect } from '../inspected.ts';
import { MAX_GROWTH_MEGABYTES } from '../live-memory.ts';
import { Random } from '../random.ts';

const CONNECTIONS = 16;
const PROGRESS_EVERY = 50_000;
const SHOWN_BROKEN = 50;
/**
 * A slow request is repeated this often, because a server problem recurs and a busy moment of the machine
 * does not.
 */
const TRIED_AGAIN = 3;
const NO_NATS = { KEELSON_NATS_URL: '' };

/** The outcome of one input. */
export interface Outcome {
  /** Status, or another word for how it ended. */
  readonly kind: string;
  /** The problem, if there was one. */
  readonly broken?: string;
}

/** One input. */
export interface Input {
  /** Description for the reader of the report. */
  readonly shown: string;
  readonly send: () => Promise<Outcome>;
}

export interface Trying {
  readonly next: (cluster: Cluster, random: Random) => Input;
  /** Once before. */
  readonly prepare?: (cluster: Cluster) => Promise<void>;
  /** Once afterwards. @returns what is broken */
  readonly conclude?: (cluster: Cluster) => Promise<readonly string[]>;
  /** Additional settings of the cluster. */
  readonly environment?: Readonly<Record<string, string>>;
}

const isUp = async (cluster: Cluster): Promise<boolean> =>
  (await cluster.v1('GET', 'sys/health', undefined, '')).status === 200;

const timed = async (send: Input['send']): Promise<{ outcome: Outcome; ms: number }> => {
  const startedAt = performance.now();
  const outcome = await send();
  return { outcome, ms: performance.now() - startedAt };
};

const isSlowAgain = async (send: Input['send'], patienceMs: number): Promise<boolean> => {
  for (let times = 0; times < TRIED_AGAIN; times += 1)
    if ((await timed(send)).ms <= patienceMs) return false;
  return true;
};

const tryOne = async (
  cluster: Cluster,
  inspector: Inspector,
  { count, seed, patienceMs, isOver, say }: ChaosContext,
  { next, conclude }: Trying,
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
        const { shown, send } = next(cluster, random);
        const { outcome, ms } = await timed(send);
        slowestMs = Math.max(slowestMs, ms);
        outcomes.set(outcome.kind, (outcomes.get(outcome.kind) ?? 0) + 1);
        if (outcome.broken !== undefined) broken.push(`${outcome.broken} for ${shown}`);
        if (ms > patienceMs && (await isSlowAgain(send, patienceMs)))
          broken.push(`${ms.toFixed(0)} ms for ${shown}`);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => sending(index)));
  };
  await sendUntil(Math.floor(count / 2));
  const halfway = await inspector.look();
  await sendUntil(count);
  if (!(await isUp(cluster))) broken.push('the server does not answer any more');
  else broken.push(...((await conclude?.(cluster)) ?? []));
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
  const cluster = await startCluster('', { ...NO_NATS, ...INSPECTED, ...trying.environment });
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
