import type { Bench, Figure, LatencySummary } from '../bench.ts';
import { type BenchProcess, startProcess } from '../child-process.ts';
import type { Throughput } from '../load.ts';

const CONNECTIONS = 64;
const PER_SECOND = 1_000;

const gatewayModule = new URL('./gateway-process.ts', import.meta.url);
const loadModule = new URL('./load-process.ts', import.meta.url);
const serviceModule = new URL('./service-process.ts', import.meta.url);

interface Measured {
  readonly throughput: Throughput;
  readonly latency: LatencySummary;
  readonly cpuMicroseconds: number;
  readonly peakMemoryMegabytes: number;
}

/** The gateway with its service in the same process, or reached on `port`. */
const measure = async (service: BenchProcess | undefined, seconds: number): Promise<Measured> => {
  const gateway = await startProcess(gatewayModule);
  const load = await startProcess(loadModule);
  try {
    const port = service ? await service.ask<number>('port') : null;
    const address = await gateway.ask<string>('start', port);
    const work = {
      url: `${address}/v1/pki/issue/web`,
      connections: CONNECTIONS,
      perSecond: PER_SECOND,
    };
    // As long as the measurement: for seconds, compiling takes as much CPU as serving.
    await load.ask('throughput', { ...work, seconds });
    const measured = service ? [gateway, service] : [gateway];
    const cpu = (): number => measured.reduce((sum, one) => sum + one.usage().cpuMicroseconds, 0);
    const before = cpu();
    const throughput = await load.ask<Throughput>('throughput', { ...work, seconds });
    const cpuMicroseconds = cpu() - before;
    const latency = await load.ask<LatencySummary>('latency', { ...work, seconds });
    const peaks = measured.map((one) => one.usage().peakMemoryMegabytes);
    return { throughput, latency, cpuMicroseconds, peakMemoryMegabytes: Math.max(...peaks) };
  } finally {
    await Promise.all([gateway.stop(), load.stop()]);
  }
};

const rate = (name: string, measured: Measured): Figure => ({
  name,
  value: measured.throughput.perSecond,
  unit: '/s',
  cpuMicrosecondsPerOperation: measured.cpuMicroseconds / measured.throughput.operations,
  peakMemoryMegabytes: measured.peakMemoryMegabytes,
  latencyMilliseconds: measured.latency,
});

const toFigures = (hop: Measured, direct: Measured): readonly Figure[] => [
  {
    ...rate('gateway -> service -> reply', hop),
    limit: { name: 'service in the gateway', value: direct.throughput.perSecond },
  },
  rate('service in the gateway', direct),
  {
    name: `added p50 at ${PER_SECOND}/s`,
    value: hop.latency.p50 - direct.latency.p50,
    unit: 'ms',
    limit: { name: 'target (most)', value: 0.4 },
  },
];

export const distributedHop: Bench = {
  name: 'distributed-hop',
  claim: 'P9: >= 8,000 requests/s through gateway and service, added p50 <= 0.5 ms over standalone',
  method:
    'The real gateway, a service that echoes 600 bytes and an access decision that needs no look-up, ' +
    `both in the gateway's process and over one edge stream. ${CONNECTIONS} HTTP connections from a ` +
    `process of their own for the rate (autocannon), ${PER_SECOND} arrivals/s for latency.`,
  run: async ({ quick, say }) => {
    const seconds = quick ? 0.3 : 5;
    say('service in the gateway');
    const direct = await measure(undefined, seconds);
    say('service over the edge stream');
    const service = await startProcess(serviceModule);
    try {
      return toFigures(await measure(service, seconds), direct);
    } finally {
      await service.stop();
    }
  },
};
