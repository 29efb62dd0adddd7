import type { Bench, Figure, LatencySummary } from '../bench.ts';
import { type BenchProcess, startProcess, type Usage } from '../child-process.ts';
import type { Throughput } from '../load.ts';

const CALLERS = 64;
const PER_SECOND = 4_000;

const clientModule = new URL('./client-process.ts', import.meta.url);
const serviceModule = new URL('./service-process.ts', import.meta.url);

interface Measured {
  readonly throughput: Throughput;
  readonly latency: LatencySummary;
  readonly usage: Usage;
}

const measure = async (
  client: BenchProcess,
  others: readonly BenchProcess[],
  seconds: number,
): Promise<Measured> => {
  await client.ask('throughput', { callers: CALLERS, seconds: seconds / 2 });
  const all = [client, ...others];
  const cpu = (): number => all.reduce((sum, one) => sum + one.usage().cpuMicroseconds, 0);
  const before = cpu();
  const throughput = await client.ask<Throughput>('throughput', { callers: CALLERS, seconds });
  const cpuMicroseconds = cpu() - before;
  const latency = await client.ask<LatencySummary>('latency', { perSecond: PER_SECOND, seconds });
  const peakMemoryMegabytes = Math.max(...all.map((one) => one.usage().peakMemoryMegabytes));
  return { throughput, latency, usage: { cpuMicroseconds, peakMemoryMegabytes } };
};

const toFigures = (hop: Measured, direct: Measured): readonly Figure[] => [
  {
    name: 'requests over the edge stream',
    value: hop.throughput.perSecond,
    unit: '/s',
    limit: { name: 'target', value: 8_000 },
    cpuMicrosecondsPerOperation: hop.usage.cpuMicroseconds / hop.throughput.operations,
    peakMemoryMegabytes: hop.usage.peakMemoryMegabytes,
  },
  {
    name: `added p50 at ${PER_SECOND}/s`,
    value: hop.latency.p50 - direct.latency.p50,
    unit: 'ms',
    limit: { name: 'target (most)', value: 0.4 },
    latencyMilliseconds: hop.latency,
  },
  {
    name: 'the same called directly',
    value: direct.throughput.perSecond,
    unit: '/s',
    cpuMicrosecondsPerOperation: direct.usage.cpuMicroseconds / direct.throughput.operations,
    latencyMilliseconds: direct.latency,
  },
];

export const edgeHop: Bench = {
  name: 'edge-hop',
  claim: 'P9, the channel alone: >= 8,000 requests/s with 600-byte bodies, added p50 <= 0.5 ms',
  method:
    `A caller process and a service process joined by one edge stream; ${CALLERS} callers for the rate, ` +
    `${PER_SECOND} arrivals/s for latency; the same load on the same handler without the stream.`,
  run: async ({ quick, say }) => {
    const seconds = quick ? 0.3 : 4;
    const service = await startProcess(serviceModule);
    const client = await startProcess(clientModule);
    try {
      say('called directly');
      const direct = await measure(client, [], seconds);
      say('over the edge stream');
      await client.ask('connect', await service.ask<number>('port'));
      return toFigures(await measure(client, [service], seconds), direct);
    } finally {
      await Promise.all([client.stop(), service.stop()]);
    }
  },
};
