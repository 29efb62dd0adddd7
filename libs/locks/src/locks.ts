/** The entry without Redis; `@keelson/locks/redis` is the other, so that its client is loaded where it is used. */
export {
  InProcessLeaseRecords,
  InProcessLeaseStore,
  type InProcessLeaseStoreOptions,
} from './in-process-lease-store.ts';
export type { LeaseStoreOptions } from './kept-lease-store.ts';
export type { AcquireOptions, HeldLease, LeaseStore } from './leases.ts';
export {
  type PeriodicWork,
  type RoundOptions,
  runPeriodically,
  Wakeup,
  type WorkParts,
} from './periodic-work.ts';
