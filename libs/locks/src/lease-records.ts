/** Where leases are kept. Each method is one atomic step. */
export interface LeaseRecords {
  /** Takes the lease for `holder` unless another has it. */
  acquire(name: string, holder: string, ttlMs: number): Promise<Acquisition>;
  /** Gives `holder` another `ttlMs`; false: it does not have the lease any more. */
  renew(name: string, holder: string, ttlMs: number): Promise<boolean>;
  /** Frees the lease if `holder` has it. */
  release(name: string, holder: string): Promise<void>;
  close(): Promise<void>;
}

export type Acquisition =
  | { readonly kind: 'acquired' }
  | { readonly kind: 'held'; readonly remainingMs: number };
