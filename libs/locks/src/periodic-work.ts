/** Periodic work that one replica at a time does, under a lease whose fence each commit carries. */
import { setImmediate } from 'node:timers/promises';
import { type Clock, pause } from '@keelson/clock';
import type { LeaseStore } from './leases.ts';

interface Fence {
  readonly lease: string;
  readonly holder: string;
}

/** Transaction options for the commits of the round. */
export interface RoundOptions {
  readonly fence?: Fence;
}

export interface PeriodicWork {
  readonly everyMs: number;
  /** Runs one round; true if there is more to do at once. */
  readonly round: (options: RoundOptions) => Promise<boolean>;
  /** Runs in all replicas at once, without a lease. */
  readonly inEveryReplica?: true;
  /** Starts a round early, if this replica does the work. */
  readonly wakeup?: Wakeup;
}

/** A wake-up signal that also takes effect if it is given while nothing waits for it. */
export class Wakeup {
  #bell = new AbortController();

  notify(): void {
    this.#bell.abort();
  }

  /** Waits for `delayMs`, until `signal` aborts, or until the first notification since the last pause. */
  async pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
    await pause(clock, delayMs, AbortSignal.any([signal, this.#bell.signal]));
    this.#bell = new AbortController();
  }
}

export interface PeriodicWorkOptions {
  /** Name of the lease. */
  readonly name: string;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  /** Takes the lease over in the store to which the rounds commit. */
  readonly takeFence: (lease: string) => Promise<Fence>;
}

const TTL_MS = 15_000;

/** Runs until `signal` aborts. */
export const runPeriodically = async (
  { name, leases, clock, takeFence }: PeriodicWorkOptions,
  { everyMs, round, inEveryReplica, wakeup = new Wakeup() }: PeriodicWork,
  signal: AbortSignal,
): Promise<void> => {
  const runRounds = async (options: RoundOptions, stop: AbortSignal): Promise<void> => {
    while (!stop.aborted) {
      const hasMore = await round(options);
      // Requests have their turn between two rounds, because a store in this process may never wait.
      if (hasMore) await setImmediate();
      else await wakeup.pause(clock, everyMs, stop);
    }
  };
  if (inEveryReplica) return runRounds({}, signal);
  while (!signal.aborted) {
    const held = await leases.acquire(name, { ttlMs: TTL_MS }, signal);
    try {
      const fence = await takeFence(name);
      await runRounds({ fence }, AbortSignal.any([signal, held.lost]));
    } finally {
      await held.release();
    }
  }
};
