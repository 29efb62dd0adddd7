/**
 * Publishes a store's log. The stream's own end says how far it got, and each message is accepted only
 * directly after the one before it: a publisher that was replaced while it slept can add nothing, and
 * after any failure the next one goes on exactly there. The lease only keeps others from trying.
 */
import type { Bus, StreamOptions } from '@keelson/bus';
import { type Clock, pause, systemClock } from '@keelson/clock';
import { hasCode } from '@keelson/errors';
import type { LeaseStore } from '@keelson/locks';
import type { Store, WalEntry } from '@keelson/storage';
import type { ReplicationKind } from '../domain/crossing.ts';
import { inGroups } from '../in-groups.ts';
import type { Membership, SetIdentity } from '../membership/membership.ts';
import { streamOf } from '../wire/names.ts';
import { type MessagePart, toParts } from '../wire/stream-message.ts';
import { encodeBatch } from '../wire/wal-batch.ts';
import { loadStreamEnd } from './stream-position.ts';

export interface WalPublisherOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly leases: LeaseStore;
  readonly membership: Membership;
  readonly kind: ReplicationKind;
  /** "sys", "pki", "workspace". */
  readonly service: string;
  readonly clock?: Clock;
  /** What the stream keeps; beyond it secondaries compare Merkle trees. */
  readonly limits?: Pick<StreamOptions, 'maxBytes' | 'maxAgeMs'>;
  /** Between attempts while NATS cannot be reached. */
  readonly retryDelayMs?: number;
}

const LEASE_TTL_MS = 15_000;
const DEFAULT_LIMITS = { maxBytes: 1024 ** 3, maxAgeMs: 24 * 3_600_000 };
const BATCH_BYTES = 512 * 1024;
const AHEAD_BYTES = 4 * 1024 * 1024;
/** Of an entry, beside its operations. */
const ENTRY_OVERHEAD_BYTES = 24;

const sizeOf = ({ operations }: WalEntry): number =>
  operations.reduce(
    (bytes, { path, stored }) => bytes + path.length + (stored?.length ?? 0),
    ENTRY_OVERHEAD_BYTES,
  );

interface Place {
  walSequence: number;
  /** End of the stream. */
  lastSequence: number;
}

export class WalPublisher {
  readonly #options: WalPublisherOptions;
  readonly #clock: Clock;

  constructor(options: WalPublisherOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Publishes whenever this replica is elected, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { leases, membership, service, retryDelayMs = 200 } = this.#options;
    const { clusterId } = await membership.identity();
    const stream = streamOf(clusterId, service);
    while (!signal.aborted) {
      const lease = await leases
        .acquire(`wal-publisher.${stream}`, { ttlMs: LEASE_TTL_MS }, signal)
        .catch((error: unknown) => {
          if (!signal.aborted) throw error;
          return undefined;
        });
      if (lease === undefined) return;
      const elected = AbortSignal.any([signal, lease.lost]);
      try {
        while (!elected.aborted) {
          await this.#publish(stream, elected).catch((error: unknown) => {
            if (!isPassing(error)) throw error;
          });
          await pause(this.#clock, retryDelayMs, elected);
        }
      } finally {
        await lease.release();
      }
    }
  }

  /** From where the stream ends, until `signal` aborts or something fails. */
  async #publish(stream: string, signal: AbortSignal): Promise<void> {
    const { bus, store, membership, limits = DEFAULT_LIMITS } = this.#options;
    await bus.ensureStream({ stream, ...limits });
    const place = await this.#begin(stream);
    const { logId } = await membership.identity();
    const groups = inGroups((ending) => store.wal.follow(place.walSequence, ending), signal, {
      sizeOf,
      maxGroupSize: BATCH_BYTES,
      maxWaitingSize: AHEAD_BYTES,
    });
    for await (const entries of groups) await this.#send(stream, logId, place, entries);
  }

  /** Goes on where the stream ends, or opens it anew at the head of the log. */
  async #begin(stream: string): Promise<Place> {
    const { bus, store, membership } = this.#options;
    const { lastSequence, published } = await loadStreamEnd(bus, stream);
    const head = await store.wal.headSequence();
    let { logId }: SetIdentity = await membership.identity();
    if (published?.logId === logId) {
      if (published.walSequence > head) {
        // The store was set back: the numbers to come mean other entries than those published.
        await membership.renewLog();
        ({ logId } = await membership.identity());
      } else if (published.walSequence + 1 >= (await store.wal.firstSequence()))
        return { walSequence: published.walSequence, lastSequence };
    }
    // Who followed sees the gap or the other log, and compares Merkle trees.
    const place = { walSequence: await store.wal.headSequence(), lastSequence };
    await this.#send(stream, logId, place, []);
    return place;
  }

  async #send(
    stream: string,
    logId: string,
    place: Place,
    entries: readonly WalEntry[],
  ): Promise<void> {
    const { membership, kind } = this.#options;
    const first = place.walSequence + 1;
    const last = place.walSequence + entries.length;
    const batch = encodeBatch(kind, entries);
    // Read after the entries: what was committed after a revocation goes out under the epoch after it.
    const key = await membership.currentEpoch();
    const head = { logId, epoch: key.epoch, first, last };
    for (const part of toParts(stream, head, key, batch))
      await this.#publishPart(stream, place, part);
    place.walSequence = last;
  }

  async #publishPart(stream: string, place: Place, { headers, payload }: MessagePart) {
    place.lastSequence = await this.#options.bus.publish(stream, payload, {
      // The same entries at another place are another message: an interrupted batch comes again whole.
      messageId: `${headers['log']}.${headers['first']}.${headers['part']}.${place.lastSequence}`,
      headers,
      expectedLastSequence: place.lastSequence,
    });
  }
}

/** What the next attempt, which reads the end of the stream again, may not meet any more. */
const isPassing = (error: unknown): boolean =>
  hasCode(
    error,
    'bus.unavailable',
    'bus.stream_not_found',
    'bus.stream_moved',
    'storage.unavailable',
    'storage.wal_pruned',
    'storage.wal_diverged',
    'storage.sealed',
  );
