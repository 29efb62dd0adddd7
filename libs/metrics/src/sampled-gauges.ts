import type { Clock } from '@keelson/clock';
import { Gauge, type Registry } from 'prom-client';
import { OF_PROCESS } from './thread-metrics.ts';

/** A gauge whose value is read when the metrics are. */
export interface Sampled {
  readonly help: string;
  /** Name of the only label; absent if the gauge has none. */
  readonly label?: string;
}

/** One value, or a value for each value of the label; undefined if unknown, so nothing is shown. */
export type SampledValue = number | ReadonlyMap<string, number> | undefined;

/** How long a sample is shown again. Anyone may read the metrics, and a sample reads the store. */
const SAMPLE_MS = 15_000;

/**
 * Registers gauges whose values are read together, at most every 15 s. While `read` fails, such as when the
 * barrier is sealed, they have no values.
 */
export const registerSampled = <Name extends string>(
  registry: Registry,
  clock: Clock,
  gauges: Readonly<Record<Name, Sampled>>,
  read: () => Promise<Readonly<Record<Name, SampledValue>>>,
): void => {
  type Sample = ReadonlyMap<string, SampledValue>;
  let latest: { readonly sample: Promise<Sample>; readonly atMs: number } | undefined;
  const readSample = async (): Promise<Sample> => {
    try {
      return new Map(Object.entries<SampledValue>(await read()));
    } catch {
      return new Map();
    }
  };
  const sample = (): Promise<Sample> => {
    const nowMs = clock.nowMs();
    if (latest === undefined || nowMs - latest.atMs >= SAMPLE_MS)
      latest = { sample: readSample(), atMs: nowMs };
    return latest.sample;
  };
  for (const [name, { help, label }] of Object.entries<Sampled>(gauges))
    new Gauge({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      ...OF_PROCESS,
      registers: [registry],
      async collect() {
        const value = (await sample()).get(name);
        this.reset();
        // A gauge without a label is 0 after a reset, which would be wrong for an unknown value.
        if (label === undefined && value === undefined) this.remove();
        else if (typeof value === 'number') this.set(value);
        else if (label !== undefined)
          for (const [key, one] of value ?? []) this.set({ [label]: key }, one);
      },
    });
};
