/** Requests keys of the primary that did not arrive with an entry, before they are needed. */
import {
  type Barrier,
  type Store,
  takeOverKeyring,
  termOf,
  type WalOperation,
} from '@keelson/storage';
import type { PrimaryLink } from './primary-link.ts';

export interface PrimaryKeysParts {
  readonly store: Store;
  readonly barrier: Barrier;
  readonly link: PrimaryLink;
}

export class PrimaryKeys {
  readonly #parts: PrimaryKeysParts;

  constructor(parts: PrimaryKeysParts) {
    this.#parts = parts;
  }

  /** Adopts the primary's keyring for this store. */
  async takeOver(): Promise<void> {
    const { store, barrier, link } = this.#parts;
    const { rootKey, wrappedKeyring } = await link.loadKeyring();
    await takeOverKeyring(store, barrier, rootKey, wrappedKeyring);
    rootKey.fill(0);
  }

  /** Adopts the keyring if values of `operations` are encrypted under an unknown term. */
  async ensureFor(operations: readonly WalOperation[]): Promise<void> {
    const { barrier } = this.#parts;
    const isUnknown = operations.some(
      ({ stored }) => stored !== undefined && (termOf(stored) ?? 0) > barrier.term,
    );
    if (isUnknown) await this.takeOver();
  }
}
