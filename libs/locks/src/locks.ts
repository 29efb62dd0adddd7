/** Entry point without Redis. `@keelson/locks/redis` is separate, so that its client is loaded on demand. */
export { FairQueue } from './fair-queue.ts';
export {
  InProcessLeaseRecords,
  InProcessLeaseStore,
  type InProcessLeaseStoreOptions,
} from './in-process-lease-store.ts';
export type { LeaseRecords } from './lease-records.ts';
export type { AcquireOptions, HeldLease, LeaseStore } from './leases.ts';
export { createLoopTurns, type LoopTurns } from './loop-turns.ts';
export {
  type PeriodicWork,
  type PeriodicWorkOptions,
  type RoundOptions,
  runPeriodically,
  Wakeup,
} from './periodic-work.ts';
export type { LeaseStoreOptions } from './renewing-lease-store.ts';
export { createTurnRounds, type NextWork, type TurnRounds } from './turn-rounds.ts';
