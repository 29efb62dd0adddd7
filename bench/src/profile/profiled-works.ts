/** Operations of the public API whose cost is divided, each on a server with what it needs. */
import { temporaryDirectory } from '@keelson/testkit';
import { ofEachService } from '@keelson/testkit/distributed-cluster';
import { startAuthority, startNames } from '../acme-order/acme-servers.ts';
import type { LoadResult } from '../acme-order/load-process.ts';
import type { BenchContext } from '../bench.ts';
import { startProcess, treeCpuMicroseconds } from '../child-process.ts';
import { openDistributedServer } from '../distributed-server.ts';
import { askInTurn } from '../http-load.ts';
import { openMeasuredServer } from '../measured-server.ts';
import { type LoadedServer, type LoadName, prepareLoads } from '../prepared-loads.ts';

interface Performed {
  readonly total: number;
  readonly perSecond: number;
}

/** A server, and an operation that clients ask it for. */
export interface ProfiledWork extends AsyncDisposable {
  /** Its processes, whose threads are profiled. */
  readonly pids: readonly number[];
  /** CPU time, so far, of servers that are not profiled, by their name. */
  others(): ReadonlyMap<string, number>;
  /** Asks for the operation from as many connections. */
  prepare(connections: number): Promise<(seconds: number) => Promise<Performed>>;
}

export type OpenWork = (context: BenchContext) => Promise<ProfiledWork>;

const NOTHING_ELSE = (): ReadonlyMap<string, number> => new Map();
/** Workspaces that are shown and listed. */
const SHOWN = { quick: 20, whole: 1000 };
const ANSWER_WITHIN_MS = 60_000;

const loadOn = async (side: LoadedServer, name: LoadName, { quick }: BenchContext) => {
  const loads = await prepareLoads(side, quick ? SHOWN.quick : SHOWN.whole);
  return (connections: number) =>
    Promise.resolve((duration: number) =>
      askInTurn({ ...loads[name], url: side.url, connections }, { duration }),
    );
};

/** A load on the process of `make up`. @param threads that serve clients */
export const standaloneLoad =
  (name: LoadName, threads: string): OpenWork =>
  async (context) => {
    const server = await openMeasuredServer(context, {
      KEELSON_WORKERS: threads,
      KEELSON_RATE_LIMIT: 'off',
    });
    return {
      pids: server.pid === undefined ? [] : [server.pid],
      others: NOTHING_ELSE,
      prepare: await loadOn(server, name, context),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  };

/** A load on a gateway and one of each service, with PostgreSQL. */
export const distributedLoad =
  (name: LoadName): OpenWork =>
  async (context) => {
    const server = await openDistributedServer(context, {
      name: 'profile',
      replicas: { gateway: 1, ...ofEachService(1) },
    });
    const { cluster, postgres, first } = server;
    return {
      pids: Object.values(cluster.processes).flatMap((replicas) =>
        replicas.map(({ pid }) => pid ?? 0),
      ),
      others: () => new Map([['PostgreSQL', treeCpuMicroseconds(postgres.process.pid ?? 0)]]),
      prepare: await loadOn(first, name, context),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  };

/** Whole ACME orders, http-01. */
export const acmeOrders: OpenWork = async () => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryDirectory());
  const load = await startProcess(new URL('../acme-order/load-process.ts', import.meta.url));
  stack.defer(() => load.stop());
  const names = await startNames();
  stack.defer(() => names.stop());
  const httpPort = await load.ask<number>('serve');
  const authority = await startAuthority({ folder: folder.path, dns: names.address, httpPort });
  stack.defer(async () => void (await authority.stop()));
  const owned = stack.move();
  return {
    pids: [authority.pid],
    others: NOTHING_ELSE,
    prepare: async (callers) => {
      const { directory } = authority;
      await load.ask('open', { directory, callers, answerWithinMs: ANSWER_WITHIN_MS });
      return async (seconds) => {
        const result = await load.ask<LoadResult>('orders', seconds);
        if (result.stopped !== undefined) throw new Error(result.stopped);
        const total = result.latenciesMicroseconds.length;
        return { total, perSecond: total / result.seconds };
      };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};
