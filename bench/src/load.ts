/** Two ways to drive an operation: as fast as a fixed number of callers can, and at a fixed arrival rate. */
import { build, type Histogram } from 'hdr-histogram-js';
import type { LatencySummary } from './bench.ts';

const NANOSECONDS_PER_MILLISECOND = 1e6;

const newHistogram = (): Histogram =>
  build({
    lowestDiscernibleValue: 1000,
    highestTrackableValue: 60e9,
    numberOfSignificantValueDigits: 3,
  });

const summary = (histogram: Histogram): LatencySummary => ({
  p50: histogram.getValueAtPercentile(50) / NANOSECONDS_PER_MILLISECOND,
  p99: histogram.getValueAtPercentile(99) / NANOSECONDS_PER_MILLISECOND,
  p999: histogram.getValueAtPercentile(99.9) / NANOSECONDS_PER_MILLISECOND,
});

const nowNanoseconds = (): number => performance.now() * NANOSECONDS_PER_MILLISECOND;

export interface Throughput {
  readonly perSecond: number;
  readonly operations: number;
}

/** Operations per second of `callers`, each of which starts the next when its last one has ended. */
export const measureThroughput = async (
  operation: () => Promise<unknown>,
  callers: number,
  seconds: number,
): Promise<Throughput> => {
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  let operations = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      await operation();
      operations++;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { operations, perSecond: operations / ((performance.now() - startedAt) / 1000) };
};

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** For `measureLatency` when the measured processes need the core that busy waiting would use. */
export const nextMillisecond = (): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, 1));

/**
 * Latency at a fixed arrival rate. Each operation is timed from the moment it was due, not from its actual
 * start, so that a stall counts for everything it delayed (no coordinated omission).
 *
 * @param untilNext waits until the next operation is due; by default in a busy loop, to start it on time
 */
export const measureLatency = async (
  operation: () => Promise<unknown>,
  perSecond: number,
  seconds: number,
  untilNext = nextTurn,
): Promise<LatencySummary> => {
  const histogram = newHistogram();
  const intervalNanoseconds = 1e9 / perSecond;
  const total = Math.floor(perSecond * seconds);
  const startedAt = nowNanoseconds();
  const underWay = new Set<Promise<unknown>>();
  for (let issued = 0; issued < total; ) {
    const dueCount = Math.min(
      total,
      Math.floor((nowNanoseconds() - startedAt) / intervalNanoseconds) + 1,
    );
    while (issued < dueCount) {
      const dueAt = startedAt + issued++ * intervalNanoseconds;
      const one: Promise<unknown> = operation().then(() => {
        histogram.recordValue(Math.max(1000, nowNanoseconds() - dueAt));
        return underWay.delete(one);
      });
      underWay.add(one);
    }
    await untilNext();
  }
  await Promise.all(underWay);
  return summary(histogram);
};
