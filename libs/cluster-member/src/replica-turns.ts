/**
 * The roles on which each replica of a service acts, as records that all replicas read. A running replica
 * holds its own lease; a record whose lease can be acquired belongs to a process that has ended.
 */
import { randomUUID } from 'node:crypto';
import { type Clock, pause } from '@keelson/clock';
import type { LeaseStore } from '@keelson/locks';
import { collection, type Store, unlessDamaged } from '@keelson/storage';
import { Type } from 'typebox';

/** Turn records by replica. */
const turns = collection('replication/replicas', {
  scope: 'node',
  version: 1,
  shape: Type.Object({ turn: Type.String() }),
});

/** Short, because others wait for a killed replica until its lease expires. */
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

  /** Records that this replica now acts on these roles and on no earlier ones. */
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

  /** Ends the part of this replica: it no longer acts on any roles. */
  async end(): Promise<void> {
    const living = this.#living;
    if (living === undefined) return;
    this.#living = undefined;
    living.ending.abort();
    await living.ended;
    // A record left behind is harmless: its replica has no lease, so that the others ignore it.
    await this.#forget(this.#replica).catch(() => undefined);
  }

  /**
   * Waits until every running replica acts on these roles.
   * @returns false when `signal` aborts before
   */
  async allTake(turn: string, signal: AbortSignal): Promise<boolean> {
    const { store } = this.#options;
    while (!signal.aborted) {
      // Read first, so that a write during the check causes another check.
      const position = await store.wal.headSequence();
      const { entries, damaged } = await turns.readableEntries(store);
      const other = entries.filter(([, noted]) => noted.turn !== turn);
      const late = [...other.map(([replica]) => replica), ...damaged];
      const living = await Promise.all(late.map((replica) => this.#isLiving(replica)));
      if (!living.includes(true)) return true;
      await this.#untilChange(position, signal);
    }
    return false;
  }

  /** Waits until a replica has recorded something, or it is time to check whether one has ended. */
  async #untilChange(position: number, signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#options;
    const ending = new AbortController();
    const over = AbortSignal.any([signal, ending.signal]);
    const follow = async (): Promise<void> => {
      for await (const { operations } of store.wal.follow(position, over))
        if (operations.some(({ path }) => path.startsWith(turns.prefix))) return;
    };
    // Without the log, only the time limit ends the wait.
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
      // Without the lease store, no replica can be considered gone.
      return true;
    }
  }

  /**
   * Holds the lease until `signal` aborts.
   * @param onHeld called once it is held, or cannot be acquired now
   */
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
      // While the lease was lost, another replica may have regarded this one as ended.
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
      // Read here, at commit time, because a transaction that began under older roles may commit last.
      const turn = this.#turn;
      if ((await unlessDamaged(turns.find(tx, this.#replica)))?.turn !== turn)
        turns.write(tx, this.#replica, { turn });
    });
  }

  #forget(replica: string): Promise<void> {
    return this.#options.store.transact((tx) => turns.delete(tx, replica));
  }
}
