import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { LeaseRecords } from './lease-records.ts';
import type { HeldLease } from './leases.ts';

/** Renewed this often per TTL, so that two renewals may fail before the lease is lost. */
const RENEWALS_PER_TTL = 3;

export interface KeptLeaseOptions {
  readonly records: LeaseRecords;
  readonly clock: Clock;
  readonly name: string;
  readonly holder: string;
  readonly ttlMs: number;
  /** When the acquisition was asked for: the TTL runs from then at the latest. */
  readonly askedAtMs: number;
  /** Called once, when the lease is lost or released. */
  readonly onEnd: (lease: KeptLease) => void;
}

/**
 * A lease that renews itself. It is lost when the records say so, or by our own clock a TTL after the
 * last renewal that succeeded was asked for: whether or not an answer is still under way.
 */
export class KeptLease implements HeldLease {
  readonly #options: KeptLeaseOptions;
  readonly #lost = new AbortController();
  #confirmedAtMs: number;
  #hasEnded = false;
  #cancelRenewal = (): void => undefined;
  #cancelExpiry = (): void => undefined;
  #released: Promise<void> | undefined;

  constructor(options: KeptLeaseOptions) {
    this.#options = options;
    this.#confirmedAtMs = options.askedAtMs;
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
      // Unreachable records free the lease by themselves when the TTL is over.
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
    const askedAtMs = clock.nowMs();
    // Undefined: no answer. The expiry decides when there has been none for too long.
    const isHeld = await records.renew(name, holder, ttlMs).catch(() => undefined);
    if (this.#hasEnded) return;
    if (isHeld === false) return this.#lose();
    if (isHeld === true) {
      this.#confirmedAtMs = askedAtMs;
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
