/** Dependencies of the operations on tokens. */
import type { Clock } from '@keelson/clock';
import type { Barrier, Store, Transaction } from '@keelson/storage';
import type { TokenEntry } from './domain/token-entry.ts';
import type { TokenTtls } from './domain/token-lifetime.ts';

/** Removes data that belongs to a token (leases, cubbyhole) in the transaction that removes the token. */
export type TokenRemovalHook = (tx: Transaction, token: TokenEntry) => Promise<void> | void;

export interface TokenContext {
  readonly store: Store;
  readonly barrier: Barrier;
  readonly clock: Clock;
  /** Lifetimes of tokens of a namespace, as its mount auth/token/ is tuned. */
  readonly ttlsOf: (namespaceId: string) => Promise<TokenTtls>;
  readonly onRemoved: readonly TokenRemovalHook[];
}
