/** What Prometheus reads. Labels have few values: never a path, an address or an id. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface RequestMetrics {
  started(): void;
  /** @param group "api_v2", "v1/pki", "v1/sys", "own" */
  finished(group: string, method: string, status: number, seconds: number): void;
  refusedByAudit(): void;
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

interface Counted {
  readonly labels: { readonly group: string; readonly method: string; readonly status: number };
  count: number;
}

/** @param isReady by service name; shown as edge_service_ready */
export const createMetrics = (
  isReady: () => Promise<ReadonlyMap<string, boolean>>,
): RequestMetrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Counted here and told when they are read: prom-client builds a key of all labels at every call.
  const uncounted = new Map<string, Counted>();
  new Counter({
    name: 'keelson_http_requests_total',
    help: 'Requests answered.',
    labelNames: ['group', 'method', 'status'],
    registers: [registry],
    collect() {
      for (const counted of uncounted.values()) {
        this.inc(counted.labels, counted.count);
        counted.count = 0;
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
  let underWay = 0;
  new Gauge({
    name: 'keelson_http_requests_under_way',
    help: 'Requests that are being answered.',
    registers: [registry],
    collect() {
      this.set(underWay);
    },
  });
  const audit = new Counter({
    name: 'keelson_audit_refusals_total',
    help: 'Requests refused because no audit device could write.',
    registers: [registry],
  });
  const services = new Gauge({
    name: 'keelson_edge_service_ready',
    help: '1 when the service can serve requests, 0 when it or its store cannot be reached or was closed after a failed write.',
    labelNames: ['service'],
    registers: [registry],
    collect: async () => {
      for (const [service, ready] of await isReady()) services.set({ service }, ready ? 1 : 0);
    },
  });

  return {
    started: () => {
      underWay += 1;
    },
    finished: (group, given, status, seconds) => {
      const method = METHODS.has(given) ? given : 'other';
      underWay -= 1;
      const key = `${group} ${method} ${status}`;
      const counted = uncounted.get(key);
      if (counted !== undefined) counted.count += 1;
      else uncounted.set(key, { labels: { group, method, status }, count: 1 });
      durations.observe({ group }, seconds);
    },
    refusedByAudit: () => audit.inc(),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
};
