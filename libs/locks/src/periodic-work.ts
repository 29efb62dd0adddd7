/** Work done again and again, by one replica at a time: under a lease, with its fence in each commit. */
import { type Clock, pause } from '@keelson/clock';
import type { LeaseStore } from './leases.ts';

interface Fence {
  readonly lease: string;
  readonly holder: string;
}

/** What commits are made with: the options of a store's transaction. */
export interface RoundOptions {
  readonly fence?: Fence;
}

export interface PeriodicWork {
  readonly everyMs: number;
  /** One round; true when there is more to do at once. */
  readonly round: (options: RoundOptions) => Promise<boolean>;
  /** Without a lease, in all replicas at a time. */
  readonly inEveryReplica?: true;
  /** Begins a round early, where the work is done in this replica. */
  readonly wakeup?: Wakeup;
}

/** A bell, heard also when it rings while nobody pauses. */
export class Wakeup {
  #bell = new AbortController();

  ring(): void {
    this.#bell.abort();
  }

  /** Ends with the time, with `signal`, or with the first ring since the last pause. */
  async pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
    await pause(clock, delayMs, AbortSignal.any([signal, this.#bell.signal]));
    this.#bell = new AbortController();
  }
}

export interface WorkParts {
  /** Of the lease. */
  readonly name: string;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  /** Takes the lease over in the store that the rounds commit to. */
  readonly takeFence: (lease: string) => Promise<Fence>;
}

const TTL_MS = 15_000;

/** Runs until `signal` aborts. */
export const runPeriodically = async (
  { name, leases, clock, takeFence }: WorkParts,
  { everyMs, round, inEveryReplica, wakeup = new Wakeup() }: PeriodicWork,
  signal: AbortSignal,
): Promise<void> => {
  const runRounds = async (options: RoundOptions, stop: AbortSignal): Promise<void> => {
    while (!stop.aborted) {
      const hasMore = await round(options);
      if (!hasMore) await wakeup.pause(clock, everyMs, stop);
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
