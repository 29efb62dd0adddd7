import type { BusStatus } from './message-bus.ts';

/** The status of a bus, and the listeners for its changes. */
export class StatusListeners {
  #status: BusStatus;
  readonly #listeners = new Set<(status: BusStatus) => void>();

  constructor(initial: BusStatus) {
    this.#status = initial;
  }

  get current(): BusStatus {
    return this.#status;
  }

  set(status: BusStatus): void {
    // A closed bus stays closed.
    if (status === this.#status || this.#status === 'closed') return;
    this.#status = status;
    for (const listener of this.#listeners) listener(status);
  }

  add(listener: (status: BusStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the status is one of `statuses` or `signal` aborts. */
  async until(statuses: readonly BusStatus[], signal: AbortSignal): Promise<void> {
    if (signal.aborted || statuses.includes(this.#status)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    const remove = this.add((status) => {
      if (statuses.includes(status)) resolve();
    });
    signal.addEventListener('abort', wake);
    await promise;
    remove();
    signal.removeEventListener('abort', wake);
  }
}
