/** A standalone cluster that gets bad input from many connections, and the record of its responses. */
import { type Cluster, startCluster } from '@keelson/testkit/replication-cluster';
import type fc from 'fast-check';
import type { ChaosContext, ChaosReport } from '../chaos.ts';
import { type Outcome, tryInputs } from '../inputs.ts';
import { INSPECTED, inspect, type Sight } from '../inspected.ts';
import { liveMemory } from '../memory.ts';

const CONNECTIONS = 16;
const BLOCK = 4000;
/**
 * A slow request is repeated this often, because a server problem recurs and a busy moment of the machine
 * does not.
 */
const TRIED_AGAIN = 3;
const NO_NATS = { KEELSON_NATS_URL: '' };

export interface ServerInputs<T> {
  /** Once before. @returns the inputs */
  readonly prepare: (cluster: Cluster) => Promise<fc.Arbitrary<T>>;
  readonly send: (cluster: Cluster, input: T) => Promise<Outcome>;
  /** Description for the reader of the report. */
  readonly show: (input: T) => string;
  /** Once afterwards. @returns what is broken */
  readonly conclude?: (cluster: Cluster) => Promise<readonly string[]>;
  /** Additional settings of the cluster. */
  readonly environment?: Readonly<Record<string, string>>;
}

const isUp = async (cluster: Cluster): Promise<boolean> => {
  try {
    return (await cluster.v1('GET', 'sys/health', undefined, '')).status === 200;
  } catch {
    return false;
  }
};

export const tryServer = async <T>(
  context: ChaosContext,
  { prepare, send, show, conclude, environment }: ServerInputs<T>,
): Promise<ChaosReport> => {
  const cluster = await startCluster('', { ...NO_NATS, ...INSPECTED, ...environment });
  try {
    const inputs = await prepare(cluster);
    const inspector = await inspect(cluster.process());
    const sights: Sight[] = [];
    const { broken, figures } = await tryInputs(context, {
      begin: async () => inputs,
      block: BLOCK,
      connections: CONNECTIONS,
      send: (input) => send(cluster, input),
      show,
      isSlow: async ({ milliseconds }, again) => {
        if (milliseconds <= context.patienceMs) return false;
        for (let times = 0; times < TRIED_AGAIN; times += 1)
          if ((await again()).milliseconds <= context.patienceMs) return false;
        return true;
      },
      memory: liveMemory(async () => {
        if (!(await isUp(cluster))) return Number.NaN;
        const sight = await inspector.look();
        sights.push(sight);
        return sight.liveMegabytes;
      }),
    });
    const concluded = (await isUp(cluster))
      ? await conclude?.(cluster)
      : ['the server does not answer any more'];
    inspector.close();
    return {
      broken: [...broken, ...(concluded ?? [])],
      figures: {
        ...figures,
        'open files, halfway and at the end': sights.map(({ openFiles }) => openFiles).join(', '),
      },
    };
  } finally {
    await cluster.stop();
  }
};
