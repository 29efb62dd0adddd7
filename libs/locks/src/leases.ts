/**
 * Leases elect the one worker of a kind. A lease alone proves nothing (its holder may be paused and not
 * know that time passed): the holder takes the lease over in the store, too (`takeFence`), every commit
 * made under it carries that fence, and the store refuses the one of a holder that was replaced.
 */
export interface HeldLease {
  readonly name: string;
  /**
   * Aborted, with KeelsonError `lock.lost` as reason, when the lease could not be renewed or was taken
   * over: work must stop. Not aborted by `release`.
   */
  readonly lost: AbortSignal;
  /** Gives the lease up. Safe to call more than once and after loss. */
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
  /** Waits for the lease, through outages too, until `signal` aborts; then throws its reason. */
  acquire(name: string, options: AcquireOptions, signal: AbortSignal): Promise<HeldLease>;
  /** Releases what this store holds. */
  close(): Promise<void>;
}
