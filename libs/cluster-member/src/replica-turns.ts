/**
 * Which roles each replica of a service acts on, as records that all of them read. A replica that lives
 * holds a lease of its own; the record of one whose lease can be had is of a process that is gone.
 */
import { randomUUID } from 'node:crypto';
import { type Clock, pause } from '@keelson/clock';
import type { LeaseStore } from '@keelson/locks';
import { jsonRecords, type Store } from '@keelson/storage';

/** By replica. */
const turns = jsonRecords<{ readonly turn: string }>('node/replication/replicas/');

/** Shorter than others wait for a change: one that was killed does not hold them up to the end. */
const LEASE_TTL_MS = 8000;
const LOOK_EVERY_MS = 500;
const RETRY_MS = 1000;

export interface ReplicaTurnsOptions {
  readonly store: Store;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly service: string;
}

export class ReplicaTurns {
  readonly #options: ReplicaTurnsOptions;
  readonly #replica = randomUUID();
  #turn = '';
  #living: { readonly ending: AbortController; readonly ended: Promise<void> } | undefined;

  constructor(options: ReplicaTurnsOptions) {
    this.#options = options;
  }

  /** This replica acts on these roles from now on, and on none before. */
  async note(turn: string): Promise<void> {
    this.#turn = turn;
    if (this.#living === undefined) {
      const ending = new AbortController();
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#living = { ending, ended: this.#live(ending.signal, resolve) };
      await promise;
    }
    await this.#write();
  }

  /** This replica acts on nothing any more. */
  async end(): Promise<void> {
    const living = this.#living;
    if (living === undefined) return;
    this.#living = undefined;
    living.ending.abort();
    await living.ended;
    // One that stays is of a replica that has no lease.
    await this.#forget(this.#replica).catch(() => undefined);
  }

  /**
   * Waits until every replica that lives acts on these roles.
   * @returns false when `signal` aborted before
   */
  async allTake(turn: string, signal: AbortSignal): Promise<boolean> {
    const { store } = this.#options;
    while (!signal.aborted) {
      // Taken first: what is written during the look makes another one.
      const position = await store.wal.headSequence();
      const entries = await turns.entries(store);
      const late = entries.filter(([, noted]) => noted.turn !== turn).map(([replica]) => replica);
      const living = await Promise.all(late.map((replica) => this.#isLiving(replica)));
      if (!living.includes(true)) return true;
      await this.#untilChange(position, signal);
    }
    return false;
  }

  /** A replica noted something; or it is time to see whether one is gone. */
  async #untilChange(position: number, signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#options;
    const ending = new AbortController();
    const over = AbortSignal.any([signal, ending.signal]);
    const follow = async (): Promise<void> => {
      for await (const { operations } of store.wal.follow(position, over))
        if (operations.some(({ path }) => path.startsWith(turns.prefix))) return;
    };
    // A log that cannot be followed leaves the time.
    const noted = follow().then(
      () => ending.abort(),
      () => undefined,
    );
    await pause(clock, LOOK_EVERY_MS, over);
    ending.abort();
    await noted;
  }

  async #isLiving(replica: string): Promise<boolean> {
    if (replica === this.#replica) return true;
    try {
      const lease = await this.#options.leases.tryAcquire(this.#leaseOf(replica), {
        ttlMs: LEASE_TTL_MS,
      });
      if (lease === undefined) return true;
      try {
        await this.#forget(replica);
      } finally {
        await lease.release();
      }
      return false;
    } catch {
      // Without leases nobody knows who is gone.
      return true;
    }
  }

  /** Holds the lease until `signal` aborts. @param onHeld called once it is held, or cannot be had now */
  async #live(signal: AbortSignal, onHeld: () => void): Promise<void> {
    const { leases, clock } = this.#options;
    while (!signal.aborted) {
      const lease = await leases
        .tryAcquire(this.#leaseOf(this.#replica), { ttlMs: LEASE_TTL_MS })
        .catch(() => undefined);
      onHeld();
      if (lease === undefined) {
        await pause(clock, RETRY_MS, signal);
        continue;
      }
      // While it was lost another replica may have taken this one for gone.
      await this.#write().catch(() => undefined);
      const over = AbortSignal.any([signal, lease.lost]);
      await new Promise<void>((resolve) => {
        over.addEventListener('abort', () => resolve(), { once: true });
        if (over.aborted) resolve();
      });
      await lease.release().catch(() => undefined);
    }
  }

  #leaseOf(replica: string): string {
    return `replica.${this.#options.service}.${replica}`;
  }

  async #write(): Promise<void> {
    await this.#options.store.transact(async (tx) => {
      // Of the moment of the commit: one that began with the roles before may be the later one.
      const turn = this.#turn;
      if ((await turns.find(tx, this.#replica))?.turn !== turn)
        turns.write(tx, this.#replica, { turn });
    });
  }

  #forget(replica: string): Promise<void> {
    return this.#options.store.transact((tx) => turns.delete(tx, replica));
  }
}
