/**
 * Decrypted records in two generations: what is used moves to the young one; when that holds half of
 * what is allowed, the old one is dropped whole and the young one becomes old. So nothing used lately is
 * dropped, and a hit costs one lookup. The owner removes what a commit changed.
 */
import type { StoredRecord } from './records/stored-record.ts';

/** Cost of an entry besides its value, in bytes (path, object, map slot). */
const ENTRY_BYTES = 200;

export class RecordCache {
  #young = new Map<string, StoredRecord>();
  #old = new Map<string, StoredRecord>();
  readonly #maxYoungBytes: number;
  #youngBytes = 0;

  constructor(maxBytes: number) {
    this.#maxYoungBytes = maxBytes / 2;
  }

  has(path: string): boolean {
    return this.#young.has(path) || this.#old.has(path);
  }

  find(path: string): StoredRecord | undefined {
    const young = this.#young.get(path);
    if (young !== undefined) return young;
    const old = this.#old.get(path);
    if (old !== undefined) this.put(old);
    return old;
  }

  put(record: StoredRecord): void {
    this.delete(record.path);
    this.#young.set(record.path, record);
    this.#youngBytes += record.value.length + ENTRY_BYTES;
    if (this.#youngBytes <= this.#maxYoungBytes) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngBytes = 0;
  }

  delete(path: string): void {
    const record = this.#young.get(path);
    if (record === undefined) {
      this.#old.delete(path);
      return;
    }
    this.#young.delete(path);
    this.#youngBytes -= record.value.length + ENTRY_BYTES;
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#youngBytes = 0;
  }
}
