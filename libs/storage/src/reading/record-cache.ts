/** An LRU cache of decrypted records. The owner removes the records that a commit changed. */
import { LRUCache } from 'lru-cache';
import type { ParsedRecord } from '../records/parsed-record.ts';

/** Cost of an entry in addition to its value, in bytes (path, object, map slot). */
const ENTRY_BYTES = 200;

export class RecordCache {
  readonly #records: LRUCache<string, ParsedRecord>;

  constructor(maxBytes: number) {
    this.#records = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ value }) => value.length + ENTRY_BYTES,
    });
  }

  has(path: string): boolean {
    return this.#records.has(path);
  }

  find(path: string): ParsedRecord | undefined {
    return this.#records.get(path);
  }

  put(record: ParsedRecord): void {
    this.#records.set(record.path, record);
  }

  delete(path: string): void {
    this.#records.delete(path);
  }

  clear(): void {
    this.#records.clear();
  }
}
