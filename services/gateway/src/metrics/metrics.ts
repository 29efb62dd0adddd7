/** Prometheus metrics. Labels have few values: never a path, an address or an id. */
import {
  Counter,
  Gauge,
  Histogram,
  type MetricsRegistry,
  metricsText,
  type ThreadMetrics,
} from '@keelson/metrics';

export interface RequestMetrics {
  started(): void;
  /** @param group "api_v2", "v1/pki", "v1/sys", "own" */
  finished(group: string, method: string, status: number, seconds: number): void;
  refusedByAudit(): void;
  /** A delivery of a webhook that is larger than allowed. */
  oversizedDelivery(): void;
  /** Text in the Prometheus exposition format. */
  text(): Promise<string>;
  readonly contentType: string;
}

const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'LIST',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

/** Metrics of the responses in one group of routes. */
interface Group {
  readonly observe: (seconds: number) => void;
  /** Number of responses since the metrics were last read, by method and status. */
  readonly uncounted: Map<string, Map<number, number>>;
}

/** State of the services by name: whether each is ready, and the faults of those that are. */
export interface ServiceStates {
  readonly services: ReadonlyMap<string, boolean>;
  readonly impaired: ReadonlyMap<string, readonly string[]>;
}

/**
 * Registers the metrics of the gateway.
 * @param registry of the process
 * @param heldBytes of request bodies in memory
 * @param onFinished called for each request that was answered
 * @param ofOthers the metrics of the other threads of the process
 */
export const createMetrics = (
  registry: MetricsRegistry,
  states: () => Promise<ServiceStates>,
  heldBytes: () => number,
  onFinished: (group: string, status: number, seconds: number) => void,
  ofOthers: () => Promise<readonly ThreadMetrics[]>,
): RequestMetrics => {
  const groups = new Map<string, Group>();
  new Counter({
    name: 'keelson_http_requests_total',
    help: 'Requests answered.',
    labelNames: ['group', 'method', 'status'],
    registers: [registry],
    // Counted when metrics are read, because prom-client builds a key from all labels at every
    // call.
    collect() {
      for (const [group, { uncounted }] of groups) {
        for (const [method, statuses] of uncounted)
          for (const [status, count] of statuses) this.inc({ group, method, status }, count);
        uncounted.clear();
      }
    },
  });
  const durations = new Histogram({
    name: 'keelson_http_request_duration_seconds',
    help: 'From the head of the request to the end of the answer.',
    labelNames: ['group'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 90],
    registers: [registry],
  });
  const openGroup = (group: string): Group => {
    const labelled = durations.labels({ group });
    const opened = {
      observe: (seconds: number) => labelled.observe(seconds),
      uncounted: new Map(),
    };
    groups.set(group, opened);
    return opened;
  };
  let underWay = 0;
  new Gauge({
    name: 'keelson_http_requests_under_way',
    help: 'Requests that are being answered.',
    registers: [registry],
    collect() {
      this.set(underWay);
    },
  });
  new Gauge({
    name: 'keelson_http_request_bodies_bytes',
    help: 'Bytes of request bodies in memory.',
    registers: [registry],
    collect() {
      this.set(heldBytes());
    },
  });
  const audit = new Counter({
    name: 'keelson_audit_refusals_total',
    help: 'Requests refused because no audit device could write.',
    registers: [registry],
  });
  const oversized = new Counter({
    name: 'keelson_oversized_deliveries_total',
    help: 'Deliveries of repository webhooks refused because of their size.',
    registers: [registry],
  });
  const services = new Gauge({
    name: 'keelson_edge_service_ready',
    help: '1 when the service can serve requests, 0 when it or its store cannot be reached or was closed after a failed write.',
    labelNames: ['service'],
    aggregator: 'min',
    registers: [registry],
    collect: async () => {
      for (const [service, isReady] of (await states()).services)
        services.set({ service }, isReady ? 1 : 0);
    },
  });
  const faults = new Gauge({
    name: 'keelson_edge_service_faults',
    help: 'Faults of a service that serves requests all the same; /readyz describes them.',
    labelNames: ['service'],
    aggregator: 'max',
    registers: [registry],
    collect: async () => {
      const { services: all, impaired } = await states();
      for (const service of ['gateway', ...all.keys()])
        faults.set({ service }, impaired.get(service)?.length ?? 0);
    },
  });

  return {
    started: () => {
      underWay += 1;
    },
    finished: (name, given, status, seconds) => {
      underWay -= 1;
      const group = groups.get(name) ?? openGroup(name);
      group.observe(seconds);
      onFinished(name, status, seconds);
      const method = METHODS.has(given) ? given : 'other';
      let statuses = group.uncounted.get(method);
      if (statuses === undefined) group.uncounted.set(method, (statuses = new Map()));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    },
    refusedByAudit: () => audit.inc(),
    oversizedDelivery: () => oversized.inc(),
    text: async () => metricsText(registry, await ofOthers()),
    contentType: registry.contentType,
  };
};
