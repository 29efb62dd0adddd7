/** The records that this replica could not decrypt or decode, or from which no rows can be computed, until they are written again. */
import type { DamageListener } from '../store.ts';

/** Enough to see the extent of the damage; a store that cannot be decrypted at all is another fault. */
const MAX_PATHS = 100;

export class DamagedRecords {
  /** Called once for each damaged record, and again when a later version of it is damaged too. */
  onFound: DamageListener = () => undefined;
  readonly #paths = new Set<string>();

  get paths(): readonly string[] {
    return [...this.#paths];
  }

  /** @param cause why it cannot be decoded, or no rows be computed from it; absent if it cannot be decrypted */
  add(path: string, cause?: unknown): void {
    if (this.#paths.has(path) || this.#paths.size >= MAX_PATHS) return;
    this.#paths.add(path);
    this.onFound(path, cause);
  }

  /** The record was written or deleted. */
  forget(path: string): void {
    this.#paths.delete(path);
  }

  forgetAll(): void {
    this.#paths.clear();
  }
}
