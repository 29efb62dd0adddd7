import { availableParallelism } from 'node:os';
import type { Bench, BenchContext, Figure } from '../bench.ts';
import { askInTurn, type HttpLoad, measureRate } from '../http-load.ts';
import { openMeasuredServer } from '../measured-server.ts';
import { type LoadName, prepareLoads } from '../prepared-loads.ts';

const LOADS: readonly LoadName[] = [
  'read a role',
  'look the own token up',
  'list 100 roles',
  'show a workspace',
  'list 20 workspaces',
  'issue a certificate',
  'create a token',
  'create a workspace',
  'log in by AppRole',
];

/** Two threads, and the number that a machine with more processors uses. */
const threadsOn = (processors: number): readonly number[] =>
  processors <= 3 ? [2] : [2, Math.min(processors - 1, 4)];

const openServer = async (context: BenchContext, threads: number) => {
  const server = await openMeasuredServer(context, {
    KEELSON_WORKERS: String(threads),
    KEELSON_RATE_LIMIT: 'off',
  });
  return { threads, server, loads: await prepareLoads(server, 300) };
};

export const servingThreads: Bench = {
  name: 'serving-threads',
  claim:
    'P20: several threads serve clients: with two on two cores, reads at least 1.4 times and issuing at least 1.3 times as many as with one',
  method:
    'One control plane with one thread that serves clients and others with several, asked in turn over HTTP from 64 ' +
    'connections, with the load generator on the same machine. The limit is the rate with one thread.',
  run: async (context) => {
    const { quick, say } = context;
    const seconds = quick ? 0.3 : 8;
    const one = await openServer(context, 1);
    await using _one = one.server;
    const figures: Figure[] = [];
    for (const threads of threadsOn(availableParallelism())) {
      const several = await openServer(context, threads);
      await using _several = several.server;
      const measure = async ({ server, loads }: typeof one, name: LoadName) => {
        const load: HttpLoad = { url: server.url, ...loads[name] };
        await askInTurn(load, { duration: seconds / 4 });
        return measureRate(load, seconds, server.pid);
      };
      for (const name of LOADS) {
        say(`${name}, ${threads} threads`);
        const alone = await measure(one, name);
        const together = await measure(several, name);
        figures.push({
          name: `${name}, ${threads} threads`,
          ...together,
          limit: {
            name: `one thread, ${Math.round(alone.cpuMicrosecondsPerOperation ?? 0)} µs`,
            value: alone.value,
          },
        });
      }
    }
    return figures;
  },
};
