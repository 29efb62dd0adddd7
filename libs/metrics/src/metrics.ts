/** Entry point. Services register their metrics in the registry of the process. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export { Counter, Gauge, Histogram } from 'prom-client';
export { registerDiskMetrics } from './disk-metrics.ts';
export { registerSampled, type Sampled, type SampledValue } from './sampled-gauges.ts';
export { registerStoreMetrics } from './store-metrics.ts';

/** All metrics of a process. */
export type MetricsRegistry = Registry;

/** A registry with the metrics of Node.js and the build. */
export const createRegistry = (version: string): MetricsRegistry => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'keelson_build_info',
    help: 'Always 1; the labels name the version of Keelson and of Node.js.',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version, node: process.versions.node }, 1);
  return registry;
};

/** A counter that a service increments, shown as 0 from the start so that its first increase is seen. */
export const createCounter = (registry: MetricsRegistry, name: string, help: string): Counter =>
  new Counter({ name, help, registers: [registry] });
