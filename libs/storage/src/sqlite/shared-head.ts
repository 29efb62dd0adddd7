/**
 * Knowledge of a SQLite store that all threads share that have it open: the end of its log, whose turn it is to append,
 * and its faults. A store that one thread has open uses the same memory, and never waits for a turn.
 */
import type { FaultCell } from '../store-faults.ts';

/** Can be posted to another thread, which opens the same store with it. */
export type StoreMemory = SharedArrayBuffer;

/** Indexes of `#state`. */
const NEXT_TURN = 0;
const PRESENT_TURN = 1;
const FAULTS = 2;
const LOST = 3;
const STATES = 4;

const HEAD_BYTES = BigInt64Array.BYTES_PER_ELEMENT;

export const createStoreMemory = (): StoreMemory =>
  new SharedArrayBuffer(HEAD_BYTES + STATES * Int32Array.BYTES_PER_ELEMENT);

export class SharedHead {
  readonly #sequence: BigInt64Array;
  readonly #state: Int32Array;

  constructor(memory: StoreMemory) {
    this.#sequence = new BigInt64Array(memory, 0, 1);
    this.#state = new Int32Array(memory, HEAD_BYTES, STATES);
  }

  /** Sequence of the newest commit that is on disk. */
  get sequence(): number {
    return Number(Atomics.load(this.#sequence, 0));
  }

  /** Makes a commit visible to all threads. */
  advance(sequence: number): void {
    Atomics.store(this.#sequence, 0, BigInt(sequence));
    Atomics.notify(this.#sequence, 0);
  }

  /** The kinds of faults that are present, as bits. */
  get faults(): FaultCell {
    const state = this.#state;
    return {
      bits: () => Atomics.load(state, FAULTS),
      add: (bit) => (Atomics.or(state, FAULTS, bit) & bit) === 0,
      remove: (bit) => (Atomics.and(state, FAULTS, ~bit) & bit) !== 0,
    };
  }

  /** Whether a write of any thread failed in a way that leaves the content of the disk unknown. */
  get isLost(): boolean {
    return Atomics.load(this.#state, LOST) === 1;
  }

  lose(): void {
    Atomics.store(this.#state, LOST, 1);
    Atomics.notify(this.#sequence, 0);
  }

  /**
   * Runs `work` while no other thread appends. Threads take turns in the order in which they asked, because one that
   * has just appended would otherwise always be faster than those that have to be woken.
   */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = Atomics.add(this.#state, NEXT_TURN, 1);
    for (;;) {
      const present = Atomics.load(this.#state, PRESENT_TURN);
      if (present === turn) break;
      await Atomics.waitAsync(this.#state, PRESENT_TURN, present).value;
    }
    try {
      return await work();
    } finally {
      Atomics.add(this.#state, PRESENT_TURN, 1);
      Atomics.notify(this.#state, PRESENT_TURN);
    }
  }

  /**
   * Calls `notice` after commits of any thread, and when the store is lost, until `signal` aborts. Commits that follow
   * each other closely may be one call.
   */
  async watch(notice: () => void, signal: AbortSignal): Promise<void> {
    for (let seen = Atomics.load(this.#sequence, 0); !signal.aborted; ) {
      await Atomics.waitAsync(this.#sequence, 0, seen).value;
      seen = Atomics.load(this.#sequence, 0);
      if (!signal.aborted) notice();
    }
  }
}
