/**
 * Leases elect the single worker of a kind. A lease alone proves nothing, because its holder may be paused
 * without noticing that time passes. The holder therefore also takes the lease over in the store
 * (`takeFence`). Every commit made under the lease carries that fence, and the store refuses a holder that
 * has been replaced.
 */
export interface HeldLease {
  readonly name: string;
  /**
   * Aborts with KeelsonError `lock.lost` as reason when the lease could not be renewed or was taken over:
   * work must stop. Does not abort on `release`.
   */
  readonly lost: AbortSignal;
  /** Releases the lease. May be called repeatedly and after a loss. */
  release(): Promise<void>;
}

export interface AcquireOptions {
  /** Time after which an unrenewed lease is free, in milliseconds. Renewed at a third of it. */
  readonly ttlMs: number;
}

export interface LeaseStore {
  /**
   * The lease, or undefined when another holds it.
   * @throws KeelsonError `lock.unavailable`
   */
  tryAcquire(name: string, options: AcquireOptions): Promise<HeldLease | undefined>;
  /** Waits for the lease, through outages too, until `signal` aborts, and then throws its reason. */
  acquire(name: string, options: AcquireOptions, signal: AbortSignal): Promise<HeldLease>;
  /** False while leases can be neither acquired nor renewed, because their store does not answer. */
  readonly isReachable: boolean;
  /** Releases all leases held through this store. */
  close(): Promise<void>;
}
