/**
 * Waiting for the first attempt at a challenge. Most succeed within milliseconds: a client that is told
 * so at once need not ask again, which costs both sides a signature and mostly a second of its sleep.
 */
import { type Clock, pause } from '@keelson/clock';

const MAX_WAIT_MS = 500;

export class FirstAttempts {
  readonly #clock: Clock;
  /** By key of the queue's entry. */
  readonly #waiting = new Map<string, AbortController>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An attempt was made, whatever came of it. */
  ended(key: string): void {
    this.#waiting.get(key)?.abort();
  }

  /** Runs `begin`, then waits for the end of the attempt, for the longest time, or for `signal`. */
  async wait(key: string, begin: () => void, signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    this.#waiting.set(key, ended);
    try {
      begin();
      await pause(this.#clock, MAX_WAIT_MS, AbortSignal.any([signal, ended.signal]));
    } finally {
      this.#waiting.delete(key);
    }
  }
}
