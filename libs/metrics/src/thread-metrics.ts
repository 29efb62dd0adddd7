/**
 * The metrics of a process whose requests are served by several threads, each with a registry of its own. A metric is
 * the sum of those of all threads unless it is declared otherwise: `OF_PROCESS` for what each thread knows about the
 * process, its stores or its disks.
 */
import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from 'prom-client';

/** Option of a metric that every thread reads alike. */
export const OF_PROCESS = { aggregator: 'first' } as const;

/** The metrics of one thread, as they can be posted to another one. */
export type ThreadMetrics = readonly MetricObjectWithValues<MetricValue<string>>[];

export const threadMetrics = (registry: Registry): Promise<ThreadMetrics> =>
  registry.getMetricsAsJSON();

/** Text in the Prometheus exposition format. @param threads that of the registry first, then those of other threads */
export const metricsText = async (
  registry: Registry,
  others: readonly ThreadMetrics[],
): Promise<string> =>
  others.length === 0
    ? registry.metrics()
    : AggregatorRegistry.aggregate([await threadMetrics(registry), ...others]).metrics();
