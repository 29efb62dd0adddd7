/**
 * Knowledge of a SQLite store that all threads share that have it open: the end of its log, whose turn it is to append,
 * and its faults. A store that one thread has open uses the same memory, and never waits for a turn.
 */
import type { FaultCell } from '../store-faults.ts';

/** Can be posted to another thread, which opens the same store with it. */
export type StoreMemory = SharedArrayBuffer;

/** Indexes of `#state`. */
const TAKEN = 0;
const WAITING = 1;
/** Number of turns that have been ended. */
const TURN = 2;
/** Number of turns after which the next one could be taken. */
const WAKES = 3;
const FAULTS = 4;
const LOST = 5;
const STATES = 6;

/** Turns of one thread in a row while others wait. */
const MAX_REPEATS = 4;

const HEAD_BYTES = BigInt64Array.BYTES_PER_ELEMENT;

export const createStoreMemory = (): StoreMemory =>
  new SharedArrayBuffer(HEAD_BYTES + STATES * Int32Array.BYTES_PER_ELEMENT);

/** End of the turn of a commit, by the thread that has written it. */
export interface TurnEnd {
  readonly memory: StoreMemory;
  readonly turn: number;
  /** Sequence of the commit. */
  readonly head: number;
}

export class SharedHead {
  readonly memory: StoreMemory;
  /** Whether other threads have the store open. */
  readonly isShared: boolean;
  readonly #sequence: BigInt64Array;
  readonly #state: Int32Array;
  /** Turns of this thread since others wait. */
  #repeats = 0;

  constructor(memory: StoreMemory, isShared: boolean) {
    this.memory = memory;
    this.isShared = isShared;
    this.#sequence = new BigInt64Array(memory, 0, 1);
    this.#state = new Int32Array(memory, HEAD_BYTES, STATES);
  }

  /** Sequence of the newest commit that is on disk. */
  get sequence(): number {
    return Number(Atomics.load(this.#sequence, 0));
  }

  /** Makes a commit visible to all threads. Called during its turn. */
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
   * Runs `work` while no other thread appends. A thread that has just appended is faster than those that have to be
   * woken, so it may go on a few times, and nobody waits for a wake-up meanwhile; then it lets another one go first.
   */
  async inTurn<T>(work: (turn: number) => Promise<T>): Promise<T> {
    const state = this.#state;
    if (this.#repeats >= MAX_REPEATS) await this.#letOthersGo();
    if (!this.#take()) await this.#takeLater();
    this.#repeats = Atomics.load(state, WAITING) === 0 ? 0 : this.#repeats + 1;
    const turn = Atomics.load(state, TURN);
    try {
      return await work(turn);
    } finally {
      this.endTurn(turn);
    }
  }

  /** Ends a turn, unless it has been ended. @param turn its number, which `inTurn` gives */
  endTurn(turn: number): void {
    const state = this.#state;
    if (Atomics.compareExchange(state, TURN, turn, turn + 1) !== turn) return;
    Atomics.store(state, TAKEN, 0);
    // Only now, so that whoever has seen this number also sees that the turn is free.
    Atomics.add(state, WAKES, 1);
    Atomics.notify(state, WAKES);
  }

  #take(): boolean {
    return Atomics.compareExchange(this.#state, TAKEN, 0, 1) === 0;
  }

  async #takeLater(): Promise<void> {
    Atomics.add(this.#state, WAITING, 1);
    for (let seen = this.#wakes; !this.#take(); seen = this.#wakes) await this.#wakeAfter(seen);
    Atomics.sub(this.#state, WAITING, 1);
    this.#repeats = 0;
  }

  /** Resolves after the turn of another thread, if one waits, without counting as one that waits. */
  async #letOthersGo(): Promise<void> {
    this.#repeats = 0;
    const seen = this.#wakes;
    // Whoever waits now takes a turn, and its end is counted after `seen`.
    if (Atomics.load(this.#state, WAITING) > 0) await this.#wakeAfter(seen);
  }

  get #wakes(): number {
    return Atomics.load(this.#state, WAKES);
  }

  /** Resolves when the ends of turns are no longer as many as `seen`, which was read before the turn was tried. */
  async #wakeAfter(seen: number): Promise<void> {
    await Atomics.waitAsync(this.#state, WAKES, seen).value;
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

/** The commit of a turn is visible, and another thread may append, before the one that made it learns of it. */
export const endTurn = ({ memory, turn, head }: TurnEnd): void => {
  const shared = new SharedHead(memory, true);
  shared.advance(head);
  shared.endTurn(turn);
};
