/**
 * Wakes waiters when the log grows. Spurious wake-ups are allowed; missed ones are not. If other
 * processes append as well, a wait ends after `pollMs` at the latest.
 */
export class LogGrowth {
  readonly #pollMs: number | undefined;
  #next = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(pollMs?: number) {
    this.#pollMs = pollMs;
  }

  /** Resolves at the next `wake`; take it before looking, so that nothing in between is missed. */
  next(): Promise<void> {
    if (this.#pollMs !== undefined && this.#timer === undefined)
      this.#timer = setTimeout(() => this.wake(), this.#pollMs).unref();
    return this.#next.promise;
  }

  wake(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#next.resolve();
    this.#next = Promise.withResolvers<void>();
  }
}
