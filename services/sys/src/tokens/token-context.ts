/** What the operations on tokens work with. */
import type { Clock } from '@keelson/clock';
import type { Barrier, Store, Transaction } from '@keelson/storage';
import type { TokenEntry } from './domain/token-entry.ts';

/** Removes what hangs on a token (its leases, its cubbyhole) in the transaction that removes it. */
export type TokenRemovalHook = (tx: Transaction, token: TokenEntry) => Promise<void> | void;

export interface TokenContext {
  readonly store: Store;
  readonly barrier: Barrier;
  readonly clock: Clock;
  readonly systemMaxTtlSeconds: number;
  readonly onRemoved: readonly TokenRemovalHook[];
}
