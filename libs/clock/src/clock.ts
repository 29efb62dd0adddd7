/** Time as a port: domain functions take `nowMs`, services hold a Clock, tests hold a manual one. */
export interface Clock {
  /** Epoch milliseconds. */
  nowMs(): number;
  /** Calls `callback` once after `delayMs`, unless the returned function is called before. */
  after(delayMs: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Resolves after `delayMs` of this clock, or as soon as `signal` aborts. */
export const pause = (clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(delayMs, done);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });

/** A clock that only moves when it is advanced. Due callbacks run in order of their time. */
export class ManualClock implements Clock {
  #nowMs: number;
  #timers: { readonly atMs: number; readonly callback: () => void }[] = [];

  constructor(startMs = Date.UTC(2030, 0, 1)) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Moves time forward and runs callbacks that become due, each at its own time. */
  advance(byMs: number): void {
    const untilMs = this.#nowMs + byMs;
    for (;;) {
      const due = this.#timers
        .filter((timer) => timer.atMs <= untilMs)
        .sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.#nowMs = due.atMs;
      due.callback();
    }
    this.#nowMs = untilMs;
  }
}
