/**
 * Publishes a store's log. The end of the stream is the position, and each message is accepted only directly
 * after the one before it: a publisher that was replaced while it slept can add nothing, and after any
 * failure the next one continues exactly there. The lease only avoids futile attempts.
 */
import { randomUUID } from 'node:crypto';
import type { Bus, StreamOptions } from '@keelson/bus';
import { type Clock, pause, systemClock } from '@keelson/clock';
import { hasCode, KeelsonError } from '@keelson/errors';
import type { LeaseStore } from '@keelson/locks';
import { loadWrappedKeyring, type Store, termOf, type WalEntry } from '@keelson/storage';
import { deriveLinkKey, deriveStreamKey } from '../cipher/link-key.ts';
import { crosses, type ReplicationKind } from '../domain/crossing.ts';
import { inGroups } from '../in-groups.ts';
import type { EpochKey, Membership } from '../membership/membership.ts';
import { KEYS_PER_MESSAGE, sealEpochKey } from '../wire/epoch-keys.ts';
import { filteredLogOf, filteredStreamOf, streamOf } from '../wire/names.ts';
import { LINK_EPOCH, type MessagePart, toParts } from '../wire/stream-message.ts';
import { encodeBatch } from '../wire/wal-batch.ts';
import type { FilterViews } from './filter-views.ts';
import { recordOwnLog } from './previous-logs.ts';
import type { PublicationFaults } from './publication-faults.ts';
import { loadStreamEnd } from './stream-position.ts';

export interface WalPublisherOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly leases: LeaseStore;
  readonly membership: Membership;
  readonly kind: ReplicationKind;
  readonly faults: PublicationFaults;
  /** "sys", "pki", "workspace". */
  readonly service: string;
  /** Version of the software of this cluster. */
  readonly version: string;
  /**
   * Publishes a filtered log for this secondary alone, while it has a filter; if absent, publishes the
   * whole log.
   */
  readonly filtered?: { readonly secondaryId: string; readonly views: FilterViews };
  readonly clock?: Clock;
  /** Retention of the stream; a secondary that falls further behind compares Merkle trees. */
  readonly limits?: Pick<StreamOptions, 'maxBytes' | 'maxAgeMs'>;
  /** Delay between attempts while NATS cannot be reached. */
  readonly retryDelayMs?: number;
}

const LEASE_TTL_MS = 15_000;
const DEFAULT_LIMITS = { maxBytes: 1024 ** 3, maxAgeMs: 24 * 3_600_000 };
const BATCH_BYTES = 512 * 1024;
const AHEAD_BYTES = 4 * 1024 * 1024;
/** Size of an entry without its operations. */
const ENTRY_OVERHEAD_BYTES = 24;

const sizeOf = ({ operations }: WalEntry): number =>
  operations.reduce(
    (bytes, { path, stored }) => bytes + path.length + (stored?.length ?? 0),
    ENTRY_OVERHEAD_BYTES,
  );

/** Newest term of the keys that the entries are encrypted with; 0 when nothing crosses. */
const newestTerm = (kind: ReplicationKind, entries: readonly WalEntry[]): number => {
  let newest = 0;
  for (const { operations } of entries)
    for (const { path, stored } of operations)
      if (stored !== undefined && crosses(kind, path))
        newest = Math.max(newest, termOf(stored) ?? 0);
  return newest;
};

interface Place {
  readonly logId: string;
  walSequence: number;
  /** End of the stream. */
  lastSequence: number;
  /** Newest term whose keyring this publisher has sent. */
  term: number;
  /** Newest epoch whose key this publisher has distributed. */
  epoch: number;
  /** Distinguishes messages of this publisher from those that another one sends at the same position. */
  readonly attempt: string;
}

const placeAt = (given: Pick<Place, 'logId' | 'walSequence' | 'lastSequence'>): Place => ({
  ...given,
  term: 0,
  epoch: LINK_EPOCH,
  attempt: randomUUID(),
});

interface Channel {
  readonly logId: string;
  readonly promotion: number;
  readonly key: EpochKey;
  readonly passes?: (path: string) => boolean;
}

export class WalPublisher {
  readonly #options: WalPublisherOptions;
  readonly #clock: Clock;

  constructor(options: WalPublisherOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Publishes whenever this replica is elected, until `signal` aborts or its secondary has no filter. */
  async run(signal: AbortSignal): Promise<void> {
    const { leases, membership, service, filtered, retryDelayMs = 200 } = this.#options;
    const { clusterId } = await membership.identity();
    const stream =
      filtered === undefined
        ? streamOf(clusterId, service)
        : filteredStreamOf(clusterId, service, filtered.secondaryId);
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
          try {
            await this.#publish(stream, elected);
          } catch (error) {
            if (hasCode(error, 'replication.not_filtered')) {
              await this.#end(stream).catch(() => undefined);
              return;
            }
            this.#failed(stream, error);
            if (!isPassing(error)) throw error;
          }
          await pause(this.#clock, retryDelayMs, elected);
        }
      } finally {
        this.#options.faults.ended(stream);
        await lease.release();
      }
    }
  }

  /** Records a failure, unless NATS cannot be reached, which is reported by itself. */
  #failed(stream: string, error: unknown): void {
    const { bus, faults } = this.#options;
    if (bus.status() === 'connected') faults.failed(stream, KeelsonError.from(error).message);
    else faults.ended(stream);
  }

  /** Publishes from the end of the stream on, until `signal` aborts or an attempt fails. */
  async #publish(stream: string, signal: AbortSignal): Promise<void> {
    const { bus, store, limits = DEFAULT_LIMITS } = this.#options;
    await bus.ensureStream({ stream, ...limits });
    const place = await this.#begin(stream);
    if (this.#options.filtered === undefined)
      await recordOwnLog(store, this.#options.kind, place.logId);
    const groups = inGroups((ending) => store.wal.follow(place.walSequence, ending), signal, {
      sizeOf,
      maxGroupSize: BATCH_BYTES,
      maxWaitingSize: AHEAD_BYTES,
    });
    for await (const entries of groups) await this.#send(stream, place, entries);
  }

  /**
   * The log to publish from now on, its key and its filter. Loaded after the entries were read, so that
   * entries committed after a revocation or a change of the filter are published accordingly.
   * @throws KeelsonError `replication.not_filtered`
   */
  async #channel(entries: readonly WalEntry[]): Promise<Channel> {
    const { membership, filtered } = this.#options;
    const { logId, promotion } = await membership.identity();
    if (filtered === undefined) return { logId, promotion, key: await membership.currentEpoch() };
    const { secondaryId, views } = filtered;
    const paths = entries.flatMap(({ operations }) => operations.map(({ path }) => path));
    const view = await views.of(secondaryId, paths);
    if (view === undefined) throw new KeelsonError('replication.not_filtered');
    return {
      logId: filteredLogOf(logId, view.generation),
      promotion,
      key: await this.#ownKey(secondaryId),
      passes: (path) => view.passes(path),
    };
  }

  /** Continues at the end of the stream, or starts it again at the head of the log. */
  async #begin(stream: string): Promise<Place> {
    const { bus, store, membership, filtered } = this.#options;
    const { lastSequence, published } = await loadStreamEnd(bus, stream);
    const head = await store.wal.headSequence();
    let { logId } = await this.#channel([]);
    if (published?.logId === logId) {
      if (published.walSequence > head) {
        // The store was restored from an older copy, so future numbers will denote other entries
        // than those published.
        if (filtered === undefined) await membership.renewLog();
        ({ logId } = await this.#channel([]));
      } else if (published.walSequence + 1 >= (await store.wal.firstSequence()))
        return placeAt({ logId, walSequence: published.walSequence, lastSequence });
    }
    // A secondary that followed the stream notices the gap or the new log, and compares Merkle trees.
    const walSequence = await store.wal.headSequence();
    const place = placeAt({ logId, walSequence, lastSequence });
    await this.#send(stream, place, []);
    return place;
  }

  /** Informs a secondary whose filter was removed that its log does not continue in this stream. */
  async #end(stream: string): Promise<void> {
    const { bus, store, membership, filtered } = this.#options;
    const { logId, promotion } = await membership.identity();
    const { lastSequence, published } = await loadStreamEnd(bus, stream);
    if (filtered === undefined || published === undefined || published.logId === logId) return;
    const key = await this.#ownKey(filtered.secondaryId);
    const walSequence = await store.wal.headSequence();
    const place = placeAt({ logId, walSequence, lastSequence });
    await this.#sendBatch(stream, place, { logId, promotion, key }, []);
  }

  /** The key of one secondary's stream. @throws KeelsonError `replication.not_filtered` */
  async #ownKey(secondaryId: string): Promise<EpochKey> {
    const { membership } = this.#options;
    const { clusterId, keys: own } = await membership.identity();
    const secondary = await membership.findSecondary(secondaryId);
    if (secondary === undefined) throw new KeelsonError('replication.not_filtered');
    const { publicKey: peerPublicKey } = secondary;
    const linkKey = deriveLinkKey({ own, peerPublicKey, clusterId, secondaryId });
    return { epoch: LINK_EPOCH, key: deriveStreamKey(linkKey) };
  }

  async #send(stream: string, place: Place, entries: readonly WalEntry[]): Promise<void> {
    const channel = await this.#channel(entries);
    // A changed filter makes it another log, which starts from its beginning.
    if (channel.logId !== place.logId) throw new KeelsonError('bus.stream_moved', { stream });
    await this.#sendBatch(stream, place, channel, entries);
  }

  async #sendBatch(
    stream: string,
    place: Place,
    channel: Channel,
    entries: readonly WalEntry[],
  ): Promise<void> {
    const { kind, store, version } = this.#options;
    const { logId, key, passes, promotion } = channel;
    if (key.epoch !== LINK_EPOCH && key.epoch !== place.epoch)
      await this.#giveKey(stream, place, channel);
    const first = place.walSequence + 1;
    const last = place.walSequence + entries.length;
    const term = Math.max(place.term, newestTerm(kind, entries));
    // Values are only encrypted with keys on disk, so the current keyring decrypts all entries read.
    const wrappedKeyring = term > place.term ? await loadWrappedKeyring(store) : undefined;
    const batch = encodeBatch(kind, entries, {
      passes,
      wrappedKeyring,
      primaryVersion: version,
      promotion,
    });
    const head = { logId, epoch: key.epoch, first, last };
    for (const part of toParts(stream, head, key, batch))
      await this.#publishPart(stream, place, part);
    place.walSequence = last;
    place.term = term;
  }

  /** Publishes a key before the first batch encrypted with it, so that no secondary has to ask for it. */
  async #giveKey(stream: string, place: Place, { logId, key, promotion }: Channel): Promise<void> {
    const { kind, membership } = this.#options;
    const { clusterId, keys: own } = await membership.identity();
    // Read after the epoch, so that secondaries removed at its beginning are not included.
    const members = await membership.unfilteredSecondaries();
    const sealed = members
      .filter(({ firstEpoch }) => firstEpoch <= key.epoch)
      .map(({ id: secondaryId, publicKey: peerPublicKey }) => {
        const linkKey = deriveLinkKey({ own, peerPublicKey, clusterId, secondaryId });
        return sealEpochKey({ stream, secondaryId, linkKey }, key);
      });
    const head = {
      logId,
      epoch: key.epoch,
      first: place.walSequence + 1,
      last: place.walSequence,
    };
    for (let at = 0; at < sealed.length; at += KEYS_PER_MESSAGE) {
      const given = Object.fromEntries(sealed.slice(at, at + KEYS_PER_MESSAGE));
      for (const { headers, payload } of toParts(
        stream,
        head,
        key,
        encodeBatch(kind, [], { promotion }),
      ))
        await this.#publishPart(stream, place, { headers: { ...headers, ...given }, payload });
    }
    place.epoch = key.epoch;
  }

  async #publishPart(stream: string, place: Place, { headers, payload }: MessagePart) {
    const { bus, faults } = this.#options;
    place.lastSequence = await bus.publish(stream, payload, {
      // Deduplicates retries of the client, but not messages of another publisher at the same position,
      // which differ even if they begin with the same entry.
      messageId: `${place.attempt}.${place.lastSequence}`,
      headers,
      expectedLastSequence: place.lastSequence,
    });
    faults.ended(stream);
  }
}

/** Whether an attempt that reads the end of the stream again may succeed. */
const isPassing = (error: unknown): boolean =>
  hasCode(
    error,
    'bus.unavailable',
    'bus.stream_not_found',
    'bus.stream_moved',
    'storage.unavailable',
    'storage.conflict',
    'storage.wal_pruned',
    'storage.wal_diverged',
    'storage.sealed',
  );
