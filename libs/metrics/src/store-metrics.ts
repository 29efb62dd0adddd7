import { FAULT_KINDS, type Store } from '@keelson/storage';
import { Counter, Gauge, type Registry } from 'prom-client';
import { OF_PROCESS } from './thread-metrics.ts';

/** Registers what can be measured of any store. @param stores by service */
export const registerStoreMetrics = (
  registry: Registry,
  stores: Readonly<Record<string, Store>>,
): void => {
  const forEach = async <T>(
    measure: (store: Store) => Promise<T>,
    show: (service: string, value: T) => void,
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
    ...OF_PROCESS,
    registers: [registry],
    async collect() {
      this.reset();
      await forEach(
        (store) => store.position(),
        (service, commits) => this.inc({ service }, commits),
      );
    },
  });
  const contention = {
    repeats: 'Runs of transactions that were repeated because something they had read was changed.',
    conflicts: 'Transactions that were given up after too many runs.',
  } as const;
  for (const what of ['repeats', 'conflicts'] as const)
    new Counter({
      name: `keelson_store_${what}_total`,
      help: contention[what],
      labelNames: ['service'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [service, store] of Object.entries(stores))
          this.inc({ service }, store.contention()[what]);
      },
    });
  new Gauge({
    name: 'keelson_store_bytes',
    help: 'Size of the SQLite files or PostgreSQL database of the store.',
    labelNames: ['service'],
    ...OF_PROCESS,
    registers: [registry],
    async collect() {
      this.reset();
      await forEach(
        (store) => store.sizeBytes(),
        (service, bytes) => this.set({ service }, bytes),
      );
    },
  });
  new Gauge({
    name: 'keelson_store_log_bytes',
    help: "Size of SQLite's write-ahead log of the store.",
    labelNames: ['service'],
    ...OF_PROCESS,
    registers: [registry],
    async collect() {
      this.reset();
      await forEach(
        (store) => store.logBytes(),
        (service, bytes) => bytes !== undefined && this.set({ service }, bytes),
      );
    },
  });
  new Gauge({
    name: 'keelson_store_fault',
    help: '1 while the store has this fault: its disk is full, a checkpoint fails, its write-ahead log is too large, its file is damaged.',
    labelNames: ['service', 'kind'],
    ...OF_PROCESS,
    registers: [registry],
    collect() {
      for (const [service, store] of Object.entries(stores)) {
        const present = new Set(store.faults().map(({ kind }) => kind));
        for (const kind of FAULT_KINDS) this.set({ service, kind }, present.has(kind) ? 1 : 0);
      }
    },
  });
};
