import type { Transaction } from '@keelson/storage';
import type { ProviderRequest } from './provider.ts';

/** A request to a provider that is due, and what follows from its answer. */
export interface ProviderErrand {
  readonly request: ProviderRequest;
  /** Statuses other than 2xx that count as success. */
  readonly alsoFine?: readonly number[];
  /** @param answer parsed; undefined if there is none @throws RepositoryFailure */
  complete(tx: Transaction, answer: unknown): Promise<void>;
}
