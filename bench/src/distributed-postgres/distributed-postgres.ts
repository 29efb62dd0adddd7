import type { ServerProcess } from '@keelson/testkit';
import { type DistributedCluster, ofEachService } from '@keelson/testkit/distributed-cluster';
import type { Bench, BenchContext, Figure } from '../bench.ts';
import { processUsage, treeCpuMicroseconds } from '../child-process.ts';
import { openDistributedServer } from '../distributed-server.ts';
import { askInTurn, type HttpLoad, measureRate } from '../http-load.ts';
import { openMeasuredServer } from '../measured-server.ts';
import { type LoadName, prepareLoads } from '../prepared-loads.ts';
import { whileSampling } from './database-waits.ts';

const CONNECTIONS = 64;

/** The loads of P18 by name. */
const LOADS = [
  'create a workspace',
  'issue a certificate',
  'read a role',
  'show a workspace',
  'list 20 workspaces',
] as const satisfies readonly LoadName[];

/** CPU time of processes by the name of their part, for every request of a load on all gateways together. */
const measureParts = async (
  { processes, urls }: DistributedCluster,
  database: ServerProcess,
  load: Omit<HttpLoad, 'url'>,
  seconds: number,
): Promise<{ readonly value: number; readonly cost: string; readonly cpu: number }> => {
  const spent = (): ReadonlyMap<string, number> =>
    new Map([
      ...Object.entries(processes).map(([name, replicas]): [string, number] => [
        name,
        replicas.reduce((sum, { pid }) => sum + processUsage(pid ?? 0).cpuMicroseconds, 0),
      ]),
      ['PostgreSQL', treeCpuMicroseconds(database.pid ?? 0)],
    ]);
  const connections = Math.ceil(CONNECTIONS / urls.length);
  const ask = (duration: number) =>
    Promise.all(urls.map((url) => askInTurn({ ...load, url, connections }, { duration })));
  await ask(seconds / 4);
  const before = spent();
  const asked = await ask(seconds);
  const total = asked.reduce((sum, one) => sum + one.total, 0);
  const each = Array.from(spent(), ([name, after]): [string, number] => [
    name,
    (after - (before.get(name) ?? 0)) / total,
  ]);
  return {
    value: asked.reduce((sum, one) => sum + one.perSecond, 0),
    cost: each.map(([name, microseconds]) => `${name} ${microseconds.toFixed(0)} µs`).join(', '),
    cpu: each.reduce((sum, [, microseconds]) => sum + microseconds, 0),
  };
};

const secondsOf = ({ quick }: BenchContext): number => (quick ? 0.3 : 8);
/** Workspaces that are shown and listed. */
const shownOf = ({ quick }: BenchContext): number => (quick ? 20 : 1000);

const measureStandalone = async (context: BenchContext): Promise<ReadonlyMap<string, number>> => {
  const seconds = secondsOf(context);
  await using server = await openMeasuredServer(context, { KEELSON_RATE_LIMIT: 'off' });
  const rates = new Map<string, number>();
  const loads = await prepareLoads(server, shownOf(context));
  for (const name of LOADS) {
    context.say(`standalone: ${name}`);
    const whole = { url: server.url, ...loads[name] };
    await askInTurn(whole, { duration: seconds / 4 });
    rates.set(name, (await measureRate(whole, seconds, server.pid)).value);
  }
  return rates;
};

/** @param limits rates of the standalone process, by load */
const measureDistributed = async (
  context: BenchContext,
  replicas: number,
  limits: ReadonlyMap<string, number>,
): Promise<readonly Figure[]> => {
  const { say } = context;
  const seconds = secondsOf(context);
  await using server = await openDistributedServer(context, {
    name: 'bench',
    replicas: { gateway: replicas, ...ofEachService(replicas) },
  });
  const { cluster, postgres, first } = server;
  const figures: Figure[] = [];
  const loads = await prepareLoads(first, shownOf(context));
  for (const name of LOADS) {
    const { result, waits } = await whileSampling(postgres.connectionString, () =>
      measureParts(cluster, postgres.process, loads[name], seconds),
    );
    const { value, cost, cpu } = result;
    const busiest = [...waits.connections].slice(0, 4);
    say(`${name}, ${replicas} of each: ${cost}`);
    say(
      `  connections: ${busiest.map(([what, count]) => `${what} ${count.toFixed(2)}`).join(', ')}; ` +
        `${(waits.flushes / (seconds * 1.25)).toFixed(0)} flushes/s`,
    );
    figures.push({
      name: replicas === 1 ? name : `${name}, ${replicas} of each`,
      value,
      unit: '/s',
      limit: { name: 'standalone', value: limits.get(name) ?? 0 },
      cpuMicrosecondsPerOperation: cpu,
    });
  }
  return figures;
};

export const distributedPostgres: Bench = {
  name: 'distributed-postgres',
  claim:
    'P18: gateway, sys, pki and workspace on PostgreSQL: reads at >= half of standalone; create and issue as fast as a peer',
  method:
    'One, two and three of each service in their own processes, PostgreSQL with fsync, Redis; over HTTP from 64 ' +
    'connections, spread over the gateways. The limit is the standalone process on SQLite, in the same run. ' +
    'CPU/op is that of the services and of PostgreSQL. What connections of the database wait for is sampled.',
  run: async (context) => {
    const limits = await measureStandalone(context);
    const figures: Figure[] = [];
    for (const replicas of context.quick ? [1] : [1, 2, 3])
      figures.push(...(await measureDistributed(context, replicas, limits)));
    return figures;
  },
};
