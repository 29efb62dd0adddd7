/** Gauges of the cluster: its seal and the connection to its NATS server. */
import type { Clock } from '@keelson/clock';
import type { ReplicationTransport } from '@keelson/cluster-member';
import { type MetricsRegistry, registerSampled } from '@keelson/metrics';
import type { Seal } from '../seal/seal.ts';

export const registerSysMetrics = (
  registry: MetricsRegistry,
  {
    seal,
    transport,
    clock,
  }: { readonly seal: Seal; readonly transport: ReplicationTransport; readonly clock: Clock },
): void =>
  registerSampled(
    registry,
    clock,
    {
      keelson_sealed: { help: '1 while the cluster is sealed.' },
      keelson_bus_connected: {
        help: "1 while the cluster's own NATS server is connected; absent if none is configured.",
      },
    },
    async () => ({
      keelson_sealed: Number(seal.isSealed),
      keelson_bus_connected:
        transport.bus === undefined ? undefined : Number(transport.bus.status() === 'connected'),
    }),
  );
