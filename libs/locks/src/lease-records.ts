/** Storage of leases. Each method is one atomic step. */
export interface LeaseRecords {
  /** Takes the lease for `holder` unless another has it. */
  acquire(name: string, holder: string, ttlMs: number): Promise<Acquisition>;
  /** Extends the lease of `holder` by `ttlMs`; false if it no longer holds the lease. */
  renew(name: string, holder: string, ttlMs: number): Promise<boolean>;
  /** Frees the lease if `holder` has it. */
  release(name: string, holder: string): Promise<void>;
  /** Whether an attempt may succeed now. */
  readonly isReachable: boolean;
  close(): Promise<void>;
}

export type Acquisition =
  | { readonly kind: 'acquired' }
  | { readonly kind: 'held'; readonly remainingMs: number };
