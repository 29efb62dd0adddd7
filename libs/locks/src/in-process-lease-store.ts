import { type Clock, systemClock } from '@keelson/clock';
import type { Acquisition, LeaseRecords } from './lease-records.ts';
import { type LeaseStoreOptions, RenewingLeaseStore } from './renewing-lease-store.ts';

interface Entry {
  readonly holder: string;
  readonly expiresAtMs: number;
}

/** Leases in memory. Stores in one process that share an instance compete for the same leases. */
export class InProcessLeaseRecords implements LeaseRecords {
  readonly isReachable = true;
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  async acquire(name: string, holder: string, ttlMs: number): Promise<Acquisition> {
    const nowMs = this.#clock.nowMs();
    const entry = this.#entries.get(name);
    if (entry !== undefined && entry.expiresAtMs > nowMs)
      return { kind: 'held', remainingMs: entry.expiresAtMs - nowMs };
    this.#entries.set(name, { holder, expiresAtMs: nowMs + ttlMs });
    return { kind: 'acquired' };
  }

  async renew(name: string, holder: string, ttlMs: number): Promise<boolean> {
    const nowMs = this.#clock.nowMs();
    const entry = this.#entries.get(name);
    if (entry?.holder !== holder || entry.expiresAtMs <= nowMs) return false;
    this.#entries.set(name, { holder, expiresAtMs: nowMs + ttlMs });
    return true;
  }

  async release(name: string, holder: string): Promise<void> {
    if (this.#entries.get(name)?.holder === holder) this.#entries.delete(name);
  }

  async close(): Promise<void> {
    // Nothing is released, because other stores may share the records.
  }
}

export interface InProcessLeaseStoreOptions extends LeaseStoreOptions {
  /** Shared by competing stores; by default the store has its own. Another thread reaches those of the first. */
  readonly records?: LeaseRecords;
}

/** Leases between the parts of one process, for standalone mode. */
export class InProcessLeaseStore extends RenewingLeaseStore {
  constructor(options: InProcessLeaseStoreOptions = {}) {
    super(options.records ?? new InProcessLeaseRecords(options.clock), options);
  }
}
