import { temporaryDirectory } from '@keelson/testkit';
import type { Bench, BenchContext, Figure } from '../bench.ts';
import { type BenchProcess, processUsage, startProcess } from '../child-process.ts';
import { type AcmeServer, startAuthority, startNames, startPebble } from './acme-servers.ts';
import type { LoadResult } from './load-process.ts';

const CALLERS = 16;
const PEBBLE_TRIES = 4;

type Measured = Omit<Figure, 'name'>;

const measure = async (
  server: AcmeServer,
  load: BenchProcess,
  { quick }: BenchContext,
): Promise<Measured> => {
  const { directory, pid } = server;
  const callers = quick ? 2 : CALLERS;
  await load.ask('orders', { directory, callers, seconds: quick ? 0.2 : 3 });
  const before = processUsage(pid);
  const result = await load.ask<LoadResult>('orders', {
    directory,
    callers,
    seconds: quick ? 0.5 : 15,
  });
  const after = processUsage(pid);
  return {
    value: result.perSecond,
    unit: 'orders/s',
    latencyMilliseconds: result.latency,
    cpuMicrosecondsPerOperation: (after.cpuMicroseconds - before.cpuMicroseconds) / result.orders,
    peakMemoryMegabytes: after.peakMemoryMegabytes,
  };
};

export const acmeOrder: Bench = {
  name: 'acme-order',
  claim: 'P4: full ACME orders, http-01, P-256, at >= 1.5 x Pebble with validation on',
  method:
    `${CALLERS} clients with an account each, over kept HTTPS connections from a process of their own that also ` +
    'answers the challenges; new order, authorization, challenge, polls (5 ms apart, then twice as long each), finalize, certificate. Both servers ask the ' +
    'same DNS server. Keelson answers after fsync; Pebble (no sleep, no refused nonces, no authorization used again) ' +
    'keeps everything in memory.',
  run: async (context) => {
    await using folder = await temporaryDirectory();
    const load = await startProcess(new URL('./load-process.ts', import.meta.url));
    const names = await startNames();
    try {
      const httpPort = await load.ask<number>('serve');
      const surroundings = { folder: folder.path, dns: names.address, httpPort };
      const measureAt = async (start: typeof startPebble): Promise<Measured> => {
        const server = await start(surroundings);
        context.say(server.directory);
        try {
          return await measure(server, load, context);
        } finally {
          await server.stop();
        }
      };
      const measurePebble = async (tries: number): Promise<Measured> => {
        try {
          return await measureAt(startPebble);
        } catch (error) {
          // Its locks can catch each other when an order is read while it is completed.
          if (tries === 1) throw error;
          context.say(`Pebble stopped: ${String(error)}`);
          return measurePebble(tries - 1);
        }
      };
      const pebble = await measurePebble(PEBBLE_TRIES);
      const keelson = await measureAt(startAuthority);
      return [
        {
          ...keelson,
          name: 'order (target: at least 1.5)',
          limit: { name: 'Pebble', value: pebble.value },
        },
        { ...pebble, name: 'Pebble' },
      ];
    } finally {
      await load.stop();
      await names.stop();
    }
  },
};
