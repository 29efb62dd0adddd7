/** Keys of the primary that came along with no entry: asked for before they are needed. */
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

  /** Takes the keyring over when values of `operations` are sealed under a term that is not known here. */
  async ensureFor(operations: readonly WalOperation[]): Promise<void> {
    const { barrier } = this.#parts;
    const isUnknown = operations.some(
      ({ stored }) => stored !== undefined && (termOf(stored) ?? 0) > barrier.term,
    );
    if (isUnknown) await this.takeOver();
  }
}
