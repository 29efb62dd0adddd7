/**
 * LRU caches of decrypted records, and of paths without a record. The owner removes the paths that a commit
 * changed.
 */
import { LRUCache } from 'lru-cache';
import type { ParsedRecord } from '../records/parsed-record.ts';

/** Cost of an entry in addition to its value, in bytes (path, object, map slot). */
const ENTRY_BYTES = 200;
/**
 * Paths that are known to have no record. A workspace without a lock, a run or a state has several, and each cost a
 * query whenever the workspace was shown. They do not share the memory of the records, because a stranger's guesses
 * of tokens are paths without a record too.
 */
const MAX_ABSENT = 10_000;

export class RecordCache {
  readonly #records: LRUCache<string, ParsedRecord>;
  readonly #absent = new LRUCache<string, true>({ max: MAX_ABSENT });

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

  isAbsent(path: string): boolean {
    return this.#absent.get(path) === true;
  }

  put(record: ParsedRecord): void {
    this.#records.set(record.path, record);
  }

  putAbsent(path: string): void {
    this.#absent.set(path, true);
  }

  /** Neither the record nor its absence is known afterwards. */
  delete(path: string): void {
    this.#records.delete(path);
    this.#absent.delete(path);
  }

  clear(): void {
    this.#records.clear();
    this.#absent.clear();
  }
}
