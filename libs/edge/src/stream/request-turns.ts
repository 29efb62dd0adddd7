import { createLoopTurns, FairQueue } from '@keelson/locks';
import { inTurns } from '../edge-body.ts';

/**
 * Requests at a service, and pieces of its answers, begin in turns, by tenant. Each gateway bounds what one tenant has under way, and several of
 * them send as much each. What arrives together would begin together, before the process reads the request of another
 * tenant.
 */
export class RequestTurns {
  readonly #waiting = new FairQueue<() => void>();
  readonly #turns = createLoopTurns(() => this.#beginWaiting());

  /** Begins the work, now or when it is the turn of the tenant. */
  begin(tenant: string, work: () => void): void {
    if (this.#waiting.size > 0 || !this.#turns.mayBegin()) {
      this.#waiting.push(tenant, work);
      return;
    }
    this.#turns.begin();
    work();
  }

  /** The pieces of an answer, each of which begins when it is the turn of the tenant. */
  pieces(tenant: string, pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    return inTurns(pieces, () => new Promise((resolve) => this.begin(tenant, resolve)));
  }

  #beginWaiting(): void {
    if (this.#waiting.size === 0 || !this.#turns.mayBegin()) return;
    this.#turns.begin();
    this.#waiting.take()?.();
  }
}
