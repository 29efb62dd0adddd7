/**
 * Which records came and which went below one prefix with the newest commits, so that what is counted
 * over them can be kept without counting again.
 */
import type { WalEntry } from '../store.ts';

/** Roughly 130 bytes each. */
const MAX_CHANGES = 8000;

export interface PresenceChange {
  readonly sequence: number;
  readonly path: string;
  /** False: it went. */
  readonly isThere: boolean;
}

export class RecentPresence {
  readonly #prefix: string;
  #changes: PresenceChange[] = [];
  #newest: number;
  /** Below it nothing is known. */
  #floor: number;

  constructor(prefix: string, headSequence: number) {
    this.#prefix = prefix;
    this.#newest = headSequence;
    this.#floor = headSequence;
  }

  /** An entry that was added before changes nothing. */
  add({ sequence, operations }: WalEntry): void {
    if (sequence <= this.#newest) return;
    this.#newest = sequence;
    for (const { path, stored, replaced } of operations) {
      const isThere = stored !== undefined;
      if (path.startsWith(this.#prefix) && isThere !== (replaced !== undefined))
        this.#changes.push({ sequence, path, isThere });
    }
    if (this.#changes.length <= MAX_CHANGES) return;
    this.#floor = this.#changes[MAX_CHANGES / 2 - 1]?.sequence ?? sequence;
    this.#changes = this.#changes.filter((change) => change.sequence > this.#floor);
  }

  /** Forgets everything before `headSequence`. */
  reset(headSequence: number): void {
    this.#changes = [];
    this.#newest = headSequence;
    this.#floor = headSequence;
  }

  /** In their order; undefined when that is too long ago to tell. */
  since(sequence: number): readonly PresenceChange[] | undefined {
    if (sequence < this.#floor) return undefined;
    let first = this.#changes.length;
    while (first > 0 && (this.#changes[first - 1]?.sequence ?? 0) > sequence) first -= 1;
    return this.#changes.slice(first);
  }
}
