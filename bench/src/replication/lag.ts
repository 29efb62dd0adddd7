/** P10: from the answer to a write on the primary to the answer to a read on the secondary that shows it. */
import { JetStreamBus } from '@keelson/bus/jetstream';
import type { Figure, LatencySummary } from '../bench.ts';
import { startProcess } from '../child-process.ts';
import { measureLatency, nextMillisecond } from '../load.ts';
import { openCaller } from './calls.ts';
import { type Clusters, RECORD_BYTES } from './clusters.ts';

const WRITES_PER_SECOND = 1000;
/** Every n-th write is read on the secondary, so that reading does not dominate. */
const READ_EVERY = 10;
const CONNECTIONS = 64;
const INDEX_HEADER = 'x-service-index';
const SUBJECT = 'bench.echo';
const REQUEST_TIMEOUT_MS = 120_000;
/** The indexed write is not there after two seconds: repeat the read. */
const TOO_EARLY = 412;
const ROLE = { allowed_domains: 'example.com', key_type: 'ec' };

const percentiles = (milliseconds: number[]): LatencySummary => {
  const sorted = milliseconds.sort((a, b) => a - b);
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0;
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999) };
};

const measureRoundTrip = async (url: string, seconds: number): Promise<LatencySummary> => {
  const echo = await startProcess(new URL('echo-process.ts', import.meta.url));
  const bus = new JetStreamBus({ servers: url });
  try {
    await echo.ask('start', { url, subject: SUBJECT });
    const payload = Buffer.alloc(RECORD_BYTES);
    const ask = () => bus.request(SUBJECT, payload, { timeoutMs: REQUEST_TIMEOUT_MS });
    await ask();
    return await measureLatency(ask, WRITES_PER_SECOND, seconds);
  } finally {
    await bus.close();
    await echo.stop();
  }
};

export const measureLag = async (
  { nats, primary, secondary }: Clusters,
  seconds: number,
): Promise<readonly Figure[]> => {
  const roundTrip = await measureRoundTrip(nats.url, seconds / 2);
  const writer = openCaller(`${primary.process().http}/v1`, primary.token, CONNECTIONS);
  const reader = openCaller(`${secondary.process().http}/v1`, secondary.token, CONNECTIONS);
  const lags: number[] = [];
  let written = 0;
  const write = async (): Promise<void> => {
    const turn = written++;
    const path = `pki/roles/live-${turn}`;
    const { status, headers } = await writer.call('POST', path, ROLE);
    if (status !== 200) throw new Error(`a write was answered ${status}`);
    if (turn % READ_EVERY !== 0) return;
    const acknowledgedAt = performance.now();
    const index = String(headers[INDEX_HEADER]);
    const look = () => reader.call('GET', path, undefined, { [INDEX_HEADER]: index });
    let read = await look();
    while (read.status === TOO_EARLY) read = await look();
    if (read.status !== 200) throw new Error(`a read was answered ${read.status}`);
    lags.push(performance.now() - acknowledgedAt);
  };
  try {
    // Busy waiting would take half of two cores from the clusters and from NATS.
    await measureLatency(write, WRITES_PER_SECOND, seconds / 4, nextMillisecond);
    lags.length = 0;
    const whole = await measureLatency(write, WRITES_PER_SECOND, seconds, nextMillisecond);
    const read = await measureLatency(
      () => reader.call('GET', 'pki/roles/live-0'),
      WRITES_PER_SECOND / READ_EVERY,
      seconds / 4,
    );
    const lag = percentiles(lags);
    return [
      {
        name: `P10 lag at ${WRITES_PER_SECOND} writes/s`,
        value: lag.p50,
        unit: 'ms',
        limit: { name: 'NATS round trip', value: roundTrip.p50 },
        latencyMilliseconds: lag,
      },
      {
        name: 'of it, a read on the secondary alone',
        value: read.p50,
        unit: 'ms',
        latencyMilliseconds: read,
      },
      {
        name: 'write and one read in ten together',
        value: whole.p50,
        unit: 'ms',
        latencyMilliseconds: whole,
      },
      { name: 'NATS round trip', value: roundTrip.p50, unit: 'ms', latencyMilliseconds: roundTrip },
    ];
  } finally {
    writer.close();
    reader.close();
  }
};
