import { temporaryDirectory } from '@keelson/testkit';
import type { Bench, BenchContext, Figure } from '../bench.ts';
import { type BenchProcess, processUsage, startProcess } from '../child-process.ts';
import { type AcmeServer, startAuthority, startNames, startPebble } from './acme-servers.ts';
import type { LoadResult } from './load-process.ts';

const CALLERS = 16;

type Measured = Omit<Figure, 'name'>;

const measure = async (
  server: AcmeServer,
  load: BenchProcess,
  { quick }: BenchContext,
): Promise<Measured> => {
  const { directory, pid } = server;
  const callers = quick ? 4 : CALLERS;
  await load.ask('orders', { directory, callers, seconds: quick ? 0.5 : 3 });
  const before = processUsage(pid);
  const result = await load.ask<LoadResult>('orders', {
    directory,
    callers,
    seconds: quick ? 1 : 15,
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
    'answers the challenges; new order, authorization, challenge, polls, finalize, certificate. Both servers ask the ' +
    'same DNS server. Keelson answers after fsync; Pebble (no sleep, no refused nonces, no authorization used again) ' +
    'keeps everything in memory.',
  run: async (context) => {
    await using folder = await temporaryDirectory();
    const load = await startProcess(new URL('./load-process.ts', import.meta.url));
    const names = await startNames();
    try {
      const httpPort = await load.ask<number>('serve');
      const surroundings = { folder: folder.path, dns: names.address, httpPort };
      const measured: Measured[] = [];
      for (const start of [startPebble, startAuthority]) {
        const server = await start(surroundings);
        context.say(server.directory);
        try {
          measured.push(await measure(server, load, context));
        } finally {
          await server.stop();
        }
      }
      const [pebble, keelson] = measured as [Measured, Measured];
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
