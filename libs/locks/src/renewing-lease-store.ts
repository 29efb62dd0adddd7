import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '@keelson/clock';
import { hasCode, KeelsonError } from '@keelson/errors';
import type { LeaseRecords } from './lease-records.ts';
import type { AcquireOptions, HeldLease, LeaseStore } from './leases.ts';
import { RenewedLease } from './renewed-lease.ts';

/** Longest time between two attempts of a waiting `acquire`, which receives no notification of releases. */
const MAX_WAIT_MS = 1000;

export interface LeaseStoreOptions {
  readonly clock?: Clock;
}

type Attempt =
  | { readonly kind: 'acquired'; readonly lease: RenewedLease }
  | { readonly kind: 'held'; readonly remainingMs: number };

/** The lease rules over any LeaseRecords. */
export class RenewingLeaseStore implements LeaseStore {
  readonly #records: LeaseRecords;
  readonly #clock: Clock;
  readonly #kept = new Set<RenewedLease>();
  readonly #closed = new AbortController();

  constructor(records: LeaseRecords, options: LeaseStoreOptions = {}) {
    this.#records = records;
    this.#clock = options.clock ?? systemClock;
  }

  get isReachable(): boolean {
    return this.#records.isReachable;
  }

  async tryAcquire(name: string, options: AcquireOptions): Promise<HeldLease | undefined> {
    const attempt = await this.#attempt(name, options.ttlMs);
    return attempt.kind === 'acquired' ? attempt.lease : undefined;
  }

  async acquire(name: string, options: AcquireOptions, signal: AbortSignal): Promise<HeldLease> {
    const stop = AbortSignal.any([signal, this.#closed.signal]);
    for (;;) {
      stop.throwIfAborted();
      const attempt = await this.#attempt(name, options.ttlMs).catch(treatOutageAsHeld);
      if (attempt.kind === 'acquired') {
        if (!stop.aborted) return attempt.lease;
        await attempt.lease.release();
      } else await this.#wait(Math.min(attempt.remainingMs, options.ttlMs / 3, MAX_WAIT_MS), stop);
    }
  }

  async close(): Promise<void> {
    this.#closed.abort(new KeelsonError('lock.unavailable'));
    await Promise.all(Array.from(this.#kept, (lease) => lease.release()));
    await this.#records.close();
  }

  async #attempt(name: string, ttlMs: number): Promise<Attempt> {
    this.#closed.signal.throwIfAborted();
    const holder = randomUUID();
    const requestedAtMs = this.#clock.nowMs();
    const acquisition = await this.#records.acquire(name, holder, ttlMs);
    if (acquisition.kind === 'held') return acquisition;
    const lease = new RenewedLease({
      records: this.#records,
      clock: this.#clock,
      name,
      holder,
      ttlMs,
      requestedAtMs,
      onEnd: (ended) => this.#kept.delete(ended),
    });
    this.#kept.add(lease);
    return { kind: 'acquired', lease };
  }

  /** Resolves after `delayMs`, or at once when `stop` aborts. */
  async #wait(delayMs: number, stop: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    const cancel = this.#clock.after(Math.max(delayMs, 1), wake);
    stop.addEventListener('abort', wake);
    if (stop.aborted) wake();
    await promise;
    cancel();
    stop.removeEventListener('abort', wake);
  }
}

/** Lets a waiting `acquire` also wait until the lease records are available again. */
const treatOutageAsHeld = (error: unknown): Attempt => {
  if (!hasCode(error, 'lock.unavailable')) throw error;
  return { kind: 'held', remainingMs: MAX_WAIT_MS };
};
