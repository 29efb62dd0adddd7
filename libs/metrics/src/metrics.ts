/** Entry point. Services register their metrics in the registry of the process. */
import { countHandlerFaults, countUncaughtExceptions } from '@keelson/errors';
import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import { OF_PROCESS } from './thread-metrics.ts';

export { Counter, Gauge, Histogram } from 'prom-client';
export { registerDiskMetrics } from './disk-metrics.ts';
export { registerSampled, type Sampled, type SampledValue } from './sampled-gauges.ts';
export { registerStoreMetrics } from './store-metrics.ts';
export { metricsText, OF_PROCESS, type ThreadMetrics, threadMetrics } from './thread-metrics.ts';

/** All metrics of a process. */
export type MetricsRegistry = Registry;

/**
 * Default metrics that are left out: gauges whose names end as only those of counters may, each the sum of another
 * metric, and the heap by space, 40 series that no alert or dashboard reads.
 */
const LEFT_OUT: readonly string[] = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_heap_space_size_total_bytes',
  'nodejs_heap_space_size_used_bytes',
  'nodejs_heap_space_size_available_bytes',
];

let ofProcess: Registry | undefined;

/**
 * The metrics of Node.js, which belong to the process: what observes garbage collection and the event loop runs as
 * long as the process does, and would keep the registry of a stopped service, with all that its metrics read.
 */
const metricsOfProcess = (): Registry => {
  if (ofProcess !== undefined) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  for (const name of LEFT_OUT) ofProcess.removeSingleMetric(name);
  for (const metric of ofProcess.getMetricsAsArray())
    if (metric.name.startsWith('process_')) Object.assign(metric, OF_PROCESS);
  new Counter({
    name: 'keelson_handler_faults_total',
    help: 'Handlers outside of requests that failed, which cost their connection or stream.',
    labelNames: ['capability'],
    registers: [ofProcess],
    collect() {
      this.reset();
      for (const [capability, faults] of countHandlerFaults()) this.inc({ capability }, faults);
    },
  });
  new Counter({
    name: 'keelson_uncaught_exceptions_total',
    help: 'Errors that nothing handled, each of which has ended this process or one before it.',
    labelNames: ['capability'],
    ...OF_PROCESS,
    registers: [ofProcess],
    collect() {
      this.reset();
      for (const [capability, count] of countUncaughtExceptions()) this.inc({ capability }, count);
    },
  });
  return ofProcess;
};

/** A registry with the metrics of Node.js and the build. */
export const createRegistry = (version: string): MetricsRegistry => {
  const registry = new Registry();
  for (const metric of metricsOfProcess().getMetricsAsArray())
    registry.registerMetric(metric as unknown as Metric);
  new Gauge({
    name: 'keelson_build_info',
    help: 'Always 1; the labels name the version of Keelson and of Node.js.',
    labelNames: ['version', 'node'],
    ...OF_PROCESS,
    registers: [registry],
  }).set({ version, node: process.versions.node }, 1);
  return registry;
};

/** A counter that a service increments, shown as 0 from the start so that its first increase is seen. */
export const createCounter = (registry: MetricsRegistry, name: string, help: string): Counter =>
  new Counter({ name, help, registers: [registry] });
