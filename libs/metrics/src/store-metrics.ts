import type { Store } from '@keelson/storage';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Registers what can be measured of any store. @param stores by service */
export const registerStoreMetrics = (
  registry: Registry,
  stores: Readonly<Record<string, Store>>,
): void => {
  const forEach = async (
    measure: (store: Store) => Promise<number>,
    show: (service: string, value: number) => void,
  ): Promise<void> => {
    await Promise.all(
      Object.entries(stores).map(async ([service, store]) => {
        try {
          show(service, await measure(store));
        } catch {
          // A store that cannot answer is reported by keelson_edge_service_ready.
        }
      }),
    );
  };
  new Counter({
    name: 'keelson_store_commits_total',
    help: 'Commits of the store since it was created, by all replicas.',
    labelNames: ['service'],
    registers: [registry],
    async collect() {
      this.reset();
      await forEach(
        (store) => store.position(),
        (service, commits) => this.inc({ service }, commits),
      );
    },
  });
  new Gauge({
    name: 'keelson_store_bytes',
    help: 'Size of the SQLite file or PostgreSQL database of the store.',
    labelNames: ['service'],
    registers: [registry],
    async collect() {
      this.reset();
      await forEach(
        (store) => store.sizeBytes(),
        (service, bytes) => this.set({ service }, bytes),
      );
    },
  });
};
