/**
 * The newest commit that touched each path and each prefix above it, kept in memory so that a transaction,
 * a list or a derived view learns without a query whether something it read has changed. The oldest commits
 * are forgotten first; at or before `floor` nothing is known and everything counts as changed.
 */
import { LRUCache } from 'lru-cache';
import { prefixesOf } from '../records/record-path.ts';

/** Memory of a key in addition to its characters; measured. */
const KEY_BYTES = 150;

export class RecentChanges {
  /** Sequences by path and prefix; only a commit moves a key, so the first to be evicted is the oldest. */
  readonly #sequences: LRUCache<string, number>;
  #floor: number;

  /** @param maxBytes memory of all keys */
  constructor(headSequence: number, maxBytes: number) {
    this.#floor = headSequence;
    this.#sequences = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: (_, key) => key.length + KEY_BYTES,
      dispose: (sequence, _, reason) => {
        if (reason === 'evict') this.#floor = sequence;
      },
      noDisposeOnSet: true,
    });
  }

  /** Sequences must grow from call to call. */
  add(sequence: number, paths: Iterable<string>): void {
    for (const path of paths) {
      this.#sequences.set(path, sequence);
      for (const prefix of prefixesOf(path)) this.#sequences.set(prefix, sequence);
    }
  }

  /** Whether the record at this path, or any below this prefix (ends with a slash), changed. */
  hasChangedSince(pathOrPrefix: string, sequence: number): boolean {
    return sequence < this.#floor || (this.#sequences.peek(pathOrPrefix) ?? 0) > sequence;
  }

  /** Forgets everything, so that all reads before `headSequence` count as changed. */
  reset(headSequence: number): void {
    this.#sequences.clear();
    this.#floor = headSequence;
  }
}
