/**
 * What the newest commits changed, kept in memory so that a transaction (or a derived view) learns
 * without a query whether something it read has moved. Two generations bound it: when the younger is
 * full the older is dropped. Below `floor` nothing is known and everything counts as changed.
 */
import { prefixesOf } from '../record-path.ts';

/** What a key takes besides its characters: its place in the map, its string; measured. */
const KEY_BYTES = 110;

export class RecentChanges {
  /** Record paths, and the prefixes above them, by the newest sequence that touched them. */
  #young = new Map<string, number>();
  #old = new Map<string, number>();
  #youngBytes = 0;
  readonly #maxYoungBytes: number;
  #newest: number;
  /** What the younger generation does not reach back to. */
  #youngFloor: number;
  #floor: number;

  /** @param maxBytes memory of both generations; a single call of `add` may take more */
  constructor(headSequence: number, maxBytes: number) {
    this.#maxYoungBytes = maxBytes / 2;
    this.#newest = headSequence;
    this.#youngFloor = headSequence;
    this.#floor = headSequence;
  }

  /** Sequences must grow from call to call. */
  add(sequence: number, paths: Iterable<string>): void {
    if (this.#youngBytes >= this.#maxYoungBytes) {
      this.#old = this.#young;
      this.#floor = this.#youngFloor;
      this.#young = new Map();
      this.#youngBytes = 0;
      this.#youngFloor = this.#newest;
    }
    for (const path of paths) {
      this.#set(path, sequence);
      for (const prefix of prefixesOf(path)) this.#set(prefix, sequence);
    }
    this.#newest = sequence;
  }

  #set(key: string, sequence: number): void {
    const sizeBefore = this.#young.size;
    this.#young.set(key, sequence);
    if (this.#young.size > sizeBefore) this.#youngBytes += key.length + KEY_BYTES;
  }

  /** Whether the record at this path, or any below this prefix (ends with a slash), changed. */
  hasChangedSince(pathOrPrefix: string, sequence: number): boolean {
    if (sequence < this.#floor) return true;
    return (this.#young.get(pathOrPrefix) ?? this.#old.get(pathOrPrefix) ?? 0) > sequence;
  }

  /** Forgets everything: all that was read before `headSequence` counts as changed. */
  reset(headSequence: number): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#youngBytes = 0;
    this.#newest = headSequence;
    this.#youngFloor = headSequence;
    this.#floor = headSequence;
  }
}
