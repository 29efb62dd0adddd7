/** Gauges of the cluster: its seal, the connection to its NATS server, its tokens and leases. */
import type { Clock } from '@keelson/clock';
import type { ReplicationTransport } from '@keelson/cluster-member';
import { Gauge, type MetricsRegistry, registerSampled } from '@keelson/metrics';
import type { Store } from '@keelson/storage';
import { countLeases } from '../leases/lease-records.ts';
import type { Seal } from '../seal/seal.ts';
import { countTokens } from '../tokens/token-records.ts';

export interface SysMetricsParts {
  readonly seal: Seal;
  readonly store: Store;
  readonly transport: ReplicationTransport;
  readonly clock: Clock;
}

/** Bounds the work of a reading: so many paths take about 100 ms, in pages between which requests are served. */
const COUNTED_LIMIT = 100_000;

export const registerSysMetrics = (
  registry: MetricsRegistry,
  { seal, store, transport, clock }: SysMetricsParts,
): void => {
  new Gauge({
    name: 'keelson_sealed',
    help: '1 while the cluster is sealed.',
    aggregator: 'max',
    registers: [registry],
    collect() {
      this.set(Number(seal.isSealed));
    },
  });
  const { bus } = transport;
  if (bus !== undefined)
    new Gauge({
      name: 'keelson_bus_connected',
      help: "1 while the cluster's own NATS server is connected; absent if no server is configured.",
      aggregator: 'min',
      registers: [registry],
      collect() {
        this.set(Number(bus.status() === 'connected'));
      },
    });
  // Sampled, because counting reads the store.
  registerSampled(
    registry,
    clock,
    {
      keelson_tokens: { help: 'Stored tokens of /v1, at most 100,000.' },
      keelson_leases: { help: 'Leases of /v1, at most 100,000.' },
      keelson_leases_irrevocable: { help: 'Leases of /v1 whose revocation was abandoned.' },
    },
    async () => {
      const { all, irrevocable } = await countLeases(store, COUNTED_LIMIT);
      return {
        keelson_tokens: await countTokens(store, COUNTED_LIMIT),
        keelson_leases: all,
        keelson_leases_irrevocable: irrevocable,
      };
    },
  );
};
