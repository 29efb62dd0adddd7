import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { LeaseRecords } from './lease-records.ts';
import type { HeldLease } from './leases.ts';

/** Renewals per TTL, so that two may fail before the lease is lost. */
const RENEWALS_PER_TTL = 3;

export interface RenewedLeaseOptions {
  readonly records: LeaseRecords;
  readonly clock: Clock;
  readonly name: string;
  readonly holder: string;
  readonly ttlMs: number;
  /** When the acquisition was requested: the TTL starts no later than then. */
  readonly requestedAtMs: number;
  /** Called once, when the lease is lost or released. */
  readonly onEnd: (lease: RenewedLease) => void;
}

/**
 * A lease that renews itself. It is lost when the records say so, or, by the local clock, one TTL after the
 * last successful renewal was requested, whether or not another renewal is in progress.
 */
export class RenewedLease implements HeldLease {
  readonly #options: RenewedLeaseOptions;
  readonly #lost = new AbortController();
  #confirmedAtMs: number;
  #hasEnded = false;
  #cancelRenewal = (): void => undefined;
  #cancelExpiry = (): void => undefined;
  #released: Promise<void> | undefined;

  constructor(options: RenewedLeaseOptions) {
    this.#options = options;
    this.#confirmedAtMs = options.requestedAtMs;
    this.#watchExpiry();
    this.#scheduleRenewal();
  }

  get name(): string {
    return this.#options.name;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  release(): Promise<void> {
    this.#released ??= this.#release();
    return this.#released;
  }

  async #release(): Promise<void> {
    const { records, name, holder } = this.#options;
    this.#end();
    try {
      await records.release(name, holder);
    } catch {
      // If the records are unreachable, the lease becomes free after its TTL.
    }
  }

  #scheduleRenewal(): void {
    const { clock, ttlMs } = this.#options;
    this.#cancelRenewal = clock.after(ttlMs / RENEWALS_PER_TTL, () => void this.#renew());
  }

  #watchExpiry(): void {
    const { clock, ttlMs } = this.#options;
    this.#cancelExpiry();
    const leftMs = this.#confirmedAtMs + ttlMs - clock.nowMs();
    this.#cancelExpiry = clock.after(Math.max(leftMs, 0), () => this.#lose());
  }

  async #renew(): Promise<void> {
    const { records, clock, name, holder, ttlMs } = this.#options;
    const requestedAtMs = clock.nowMs();
    // Undefined means no answer. The expiry ends the lease when there was none for too long.
    const isHeld = await records.renew(name, holder, ttlMs).catch(() => undefined);
    if (this.#hasEnded) return;
    if (isHeld === false) return this.#lose();
    if (isHeld === true) {
      this.#confirmedAtMs = requestedAtMs;
      this.#watchExpiry();
    }
    this.#scheduleRenewal();
  }

  #lose(): void {
    this.#end();
    this.#lost.abort(new KeelsonError('lock.lost', { name: this.name }));
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#cancelRenewal();
    this.#cancelExpiry();
    this.#options.onEnd(this);
  }
}
