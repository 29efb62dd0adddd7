/**
 * The secondary's side of a service: carries out what `domain/secondary-state.ts` decides, and reports its
 * state. One replica is elected; its commits carry the fence of its lease.
 */
import type { Bus } from '@keelson/bus';
import { type Clock, pause, systemClock } from '@keelson/clock';
import { hasCode } from '@keelson/errors';
import type { HeldLease, LeaseStore } from '@keelson/locks';
import {
  type Barrier,
  extendKeyring,
  type Fence,
  findDifferingSubpages,
  type Store,
  type SubpageIndex,
  type TreeType,
  takeFence,
  type WalOperation,
} from '@keelson/storage';
import { connectionStateOf } from '../domain/connection-state.ts';
import { type ReplicationKind, TREES_OF } from '../domain/crossing.ts';
import { canaryAgeMs, lagEntryCount } from '../domain/heartbeat.ts';
import { NO_GROUPS, type RecordGroups } from '../domain/record-groups.ts';
import {
  type BackOff,
  backOffMs,
  nextSecondaryState,
  type SecondaryEvent,
  startSecondary,
} from '../domain/secondary-state.ts';
import { requireNoNewerPrimary } from '../domain/software-version.ts';
import { findCanary } from '../primary/canary.ts';
import {
  loadStreamEnd,
  type PublishedPosition,
  type StreamEnd,
} from '../primary/stream-position.ts';
import { streamOfLog } from '../wire/names.ts';
import { FollowedLog } from './followed-log.ts';
import {
  type Difference,
  FollowerRecords,
  NOT_STARTED,
  type SecondaryStatus,
} from './follower-records.ts';
import { afterAnswer, toHeartbeat } from './heartbeat-message.ts';
import { KnownPromotion } from './known-promotion.ts';
import { copySubpages } from './merkle-copy.ts';
import { PrimaryKeys } from './primary-keys.ts';
import { type FollowPosition, PrimaryLink, type SecondaryIdentity } from './primary-link.ts';
import { SharedFollower } from './shared-follower.ts';
import { findUnreplicated, type UnreplicatedEntries } from './unreplicated-entries.ts';
import { whilePrimaryResponds } from './waiting-for-primary.ts';
import { applyStream, BROKEN_STREAM } from './wal-applier.ts';
import { copyReadmitted, removeWithheld } from './withheld-groups.ts';

export interface SecondaryOptions {
  readonly store: Store;
  readonly barrier: Barrier;
  /** Connected to the primary's NATS. */
  readonly bus: Bus;
  readonly leases: LeaseStore;
  readonly kind: ReplicationKind;
  readonly service: string;
  /** Version of the software of this cluster. */
  readonly version: string;
  readonly identity: SecondaryIdentity;
  readonly apiAddress: string;
  readonly clusterAddress: string;
  /** Id of this cluster, reported to the primary. */
  readonly localClusterId?: () => Promise<string>;
  /** Filter groups of the records; absent when the records are never filtered. */
  readonly groups?: RecordGroups;
  readonly clock?: Clock;
  readonly backOff?: BackOff;
  readonly heartbeatIntervalMs?: number;
  /** Called with each failure, for the log; the status shows everything else. */
  readonly onFailure?: (error: unknown) => void;
  /** Called before this store, a former primary's, loses what its successor never received. */
  readonly onUnreplicated?: (unreached: UnreplicatedEntries) => void;
}

const LEASE_TTL_MS = 15_000;
const DEFAULT_BACK_OFF: BackOff = { firstMs: 500, maxMs: 30_000 };
const HEARTBEAT_INTERVAL_MS = 5000;
/** Refusals that last until an operator acts. */
const REFUSALS = [
  'replication.not_admitted',
  'replication.newer_primary',
  'replication.superseded_primary',
] as const;

export class Secondary {
  readonly followed: FollowedLog;
  /** Promotion number of the set. */
  readonly promotion: KnownPromotion;
  /** Requests to the primary. */
  readonly link: PrimaryLink;
  readonly #options: SecondaryOptions;
  readonly #clock: Clock;
  readonly #backOff: BackOff;
  readonly #keys: PrimaryKeys;
  readonly #listeners = new Set<() => void>();
  #status: SecondaryStatus = NOT_STARTED;
  #activity: 'not_started' | 'running' | 'stopped' = 'not_started';
  #newestQuestion: 'none' | 'answered' | 'failed' = 'none';
  #idle = new AbortController();
  #again = new AbortController();
  #bytesBeforeResync = 0;
  #suspects: Difference = [];
  readonly #shared: SharedFollower;
  /** Id of the log that was followed last. */
  #logId: string | undefined;
  #isTold = false;
  #copying: { readonly position: FollowPosition; readonly difference: Difference } | undefined;

  constructor(options: SecondaryOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#backOff = options.backOff ?? DEFAULT_BACK_OFF;
    const { store, bus, identity, service } = options;
    const link = identity.keys.publicKey;
    this.promotion = new KnownPromotion(store, options.kind, identity.clusterId);
    this.followed = new FollowedLog({ store, service, link, clock: this.#clock });
    const records = new FollowerRecords(options.store, service, identity.keys.publicKey);
    this.#shared = new SharedFollower({
      records,
      clock: this.#clock,
      heartbeatIntervalMs: options.heartbeatIntervalMs ?? HEARTBEAT_INTERVAL_MS,
      own: {
        status: () => this.status(),
        appliedSequence: async () => (await this.followed.position())?.sequence ?? 0,
        onChange: (listener) => this.onChange(listener),
        endIdling: () => this.#endIdling(),
        compareAgain: () => this.#beginAgain(),
        repair: (suspects, signal) => this.#repairHere(suspects, signal),
      },
    });
    this.link = new PrimaryLink({
      bus,
      identity,
      service,
      promotion: this.promotion,
      keptKeys: records,
      onOutcome: (outcome, answerBytes) => {
        this.#newestQuestion = outcome;
        this.#status = {
          ...this.#status,
          bytesReceived: this.#status.bytesReceived + answerBytes,
        };
      },
    });
    this.#keys = new PrimaryKeys({ store, barrier: options.barrier, link: this.link });
  }

  /** Status of this replica; see `sharedStatus`. */
  status(): SecondaryStatus {
    const connectionState = connectionStateOf({
      activity: this.#activity,
      bus: this.#options.bus.status(),
      newestQuestion: this.#newestQuestion,
    });
    return { ...this.#status, connectionState };
  }

  /** Status of the elected replica, whichever that is. */
  sharedStatus(): Promise<SecondaryStatus> {
    return this.#shared.status();
  }

  /** The same for operators: no replica answers with an earlier one afterwards. */
  reportedStatus(): Promise<SecondaryStatus> {
    return this.#shared.reportedStatus();
  }

  /** Age of the newest canary that was applied; undefined when none was. */
  async canaryAgeMs(): Promise<number | undefined> {
    const canary = await findCanary(this.#options.store);
    if (canary === undefined) return undefined;
    const skewMs = (await this.sharedStatus()).heartbeat?.clockSkewMs ?? 0;
    return canaryAgeMs(canary.writtenAtMs, this.#clock.nowMs(), skewMs);
  }

  /** Reports every change of the status; the returned function stops it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends a back-off, so that the failed step is retried now. */
  recover(): Promise<void> {
    return this.#shared.recover();
  }

  /** Compares with the primary again, as after a break in the stream; called when the trees were rebuilt. */
  compareAgain(): Promise<void> {
    return this.#shared.compareAgain();
  }

  /**
   * Compares the records of these subpages with the primary's one by one, regardless of the trees, because
   * the records are not those from which the trees were built. Resolves when they equal the primary's.
   */
  repair(suspects: Difference): Promise<void> {
    return this.#shared.repair(suspects);
  }

  async #repairHere(suspects: Difference, signal: AbortSignal): Promise<void> {
    this.#suspects = suspects;
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = (): void => {
      if (this.#suspects.length === 0 && this.#status.state === 'stream-wals') resolve();
    };
    const stop = this.onChange(check);
    signal.addEventListener('abort', () => resolve(), { once: true });
    this.#beginAgain();
    check();
    await promise;
    stop();
  }

  #endIdling(): void {
    this.#idle.abort();
  }

  #beginAgain(): void {
    this.#again.abort();
    this.#endIdling();
  }

  /** Numbers of entries not yet applied here: those in the stream, and all known ones. */
  async lag(): Promise<{ readonly inStream: number; readonly known: number }> {
    const { bus, identity, service } = this.#options;
    const logId = await this.followed.logId();
    const stream = streamOfLog(logId ?? '', identity, service);
    const { published } = await loadStreamEnd(bus, stream).catch(
      (): StreamEnd => ({ lastSequence: 0, published: undefined }),
    );
    const { lastKnownWal, lastRemoteWal } = await this.sharedStatus();
    const streamed = published?.logId === logId ? (published?.walSequence ?? 0) : 0;
    const inStream = lagEntryCount(streamed, lastRemoteWal);
    return { inStream, known: Math.max(inStream, lagEntryCount(lastKnownWal, lastRemoteWal)) };
  }

  /**
   * Sends a request to the primary and waits until its writes can be read here.
   * @returns `isApplied` false: the time limit passed before
   * @throws KeelsonError as `whilePrimaryResponds`
   */
  async forward(
    request: Uint8Array,
    { timeoutMs, applyWithinMs }: { readonly timeoutMs: number; readonly applyWithinMs: number },
  ): Promise<{ readonly response: Uint8Array; readonly isApplied: boolean }> {
    const hearing = {
      clock: this.#clock,
      status: () => this.sharedStatus(),
      heartbeatIntervalMs: this.#options.heartbeatIntervalMs ?? HEARTBEAT_INTERVAL_MS,
    };
    const { response, walSequence } = await whilePrimaryResponds(
      hearing,
      () => this.#options.bus.status() === 'connected',
      () => this.link.forward(request, timeoutMs),
    );
    const isApplied = await this.followed.reaches({ sequence: walSequence }, applyWithinMs);
    return { response, isApplied };
  }

  /** Replicates whenever this replica is elected, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { leases, service, identity } = this.#options;
    const name = `wal-applier.${identity.clusterId}.${service}`;
    this.#activity = 'running';
    try {
      while (!signal.aborted) {
        const lease = await leases.acquire(name, { ttlMs: LEASE_TTL_MS }, signal);
        try {
          await this.#runElected(lease, signal);
        } finally {
          await lease.release();
        }
        // The pause keeps this replica from fencing off the one that follows next at once.
        await pause(this.#clock, this.#backOff.firstMs, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#activity = 'stopped';
      this.#happened({ type: 'stopped' });
    }
  }

  async #runElected({ name, lost }: HeldLease, ending: AbortSignal): Promise<void> {
    const fence = await takeFence(this.#options.store, name);
    const replaced = new AbortController();
    const signal = AbortSignal.any([ending, lost, replaced.signal]);
    this.#logId = await this.followed.logId();
    const applied =
      this.#logId === undefined
        ? undefined
        : await this.#options.store.appliedPosition(this.#logId);
    this.#change({
      ...startSecondary(applied !== undefined),
      lastStartMs: this.#clock.nowMs(),
      lastRemoteWal: applied?.sequence ?? 0,
      ...(await this.#shared.lastReport()),
    });
    const alongside = [this.#beat(signal), this.#shared.runElected(fence, signal)];
    while (!signal.aborted)
      try {
        await this.#step(fence, signal);
      } catch (error) {
        if (signal.aborted) break;
        // Another replica took over the lease, so this one must acquire it again.
        if (hasCode(error, 'storage.fenced')) replaced.abort();
        if (this.#status.state === 'stream-wals' && hasCode(error, ...BROKEN_STREAM))
          this.#happened({ type: 'stream_broken' });
        else this.#happened({ type: 'failed' });
        this.#options.onFailure?.(error);
      }
    await Promise.all(alongside);
  }

  async #step(fence: Fence, signal: AbortSignal): Promise<void> {
    switch (this.#status.state) {
      case 'merkle-diff':
        return this.#compare(fence, signal);
      case 'merkle-sync':
        return this.#copy(fence, signal);
      case 'stream-wals':
        this.#again = new AbortController();
        await this.#stream(fence, AbortSignal.any([signal, this.#again.signal]));
        if (this.#again.signal.aborted) this.#happened({ type: 'stream_broken' });
        return undefined;
      case 'idle': {
        this.#idle = new AbortController();
        const delayMs = backOffMs(this.#status.failureCount, this.#backOff);
        await pause(this.#clock, delayMs, AbortSignal.any([signal, this.#idle.signal]));
        return this.#happened({ type: 'recovered' });
      }
      case 'shutdown':
        return undefined;
    }
  }

  /** Loads the position first: every record copied later is at least as new, so streaming continues there. */
  async #compare(fence: Fence, signal: AbortSignal): Promise<void> {
    const { store, kind, version, groups = NO_GROUPS } = this.#options;
    this.#bytesBeforeResync = this.#status.bytesReceived;
    this.#change({ copiedRecordCount: 0 });
    const position = await this.link.loadPosition();
    requireNoNewerPrimary(position.primaryVersion, version);
    await this.#tellUnreached(position);
    await this.#keys.takeOver();
    const apply = (operations: readonly WalOperation[]) =>
      this.#applyCopied(position, operations, fence);
    await removeWithheld(store, groups, position.withheldGroups, apply);
    const before = await this.followed.withheldGroups();
    const copying = { store, groups, link: this.link, signal, apply };
    await copyReadmitted({ ...copying, before, now: position.withheldGroups });
    const trees = await store.merkle.current();
    const difference: [TreeType, SubpageIndex[]][] = [];
    for (const tree of TREES_OF[kind]) {
      const found = await findDifferingSubpages(trees[tree], this.link.remoteTree(tree));
      const suspects = this.#suspects.flatMap(([of, subpages]) => (of === tree ? subpages : []));
      difference.push([tree, [...new Set([...found, ...suspects])]]);
    }
    this.#copying = { position, difference };
    const differingSubpageCount = difference.reduce((count, [, found]) => count + found.length, 0);
    if (differingSubpageCount === 0) await this.#recordCopied(fence, position);
    this.#happened({ type: 'compared', differingSubpageCount });
  }

  /** Once for each link, and again if this process ends before the first copy is complete. */
  async #tellUnreached({ former }: FollowPosition): Promise<void> {
    const { store, kind, onUnreplicated } = this.#options;
    if (this.#isTold || (await this.followed.logId()) !== undefined) return;
    const unreached = await findUnreplicated(store, kind, former);
    if (unreached !== undefined) onUnreplicated?.(unreached);
    this.#isTold = true;
  }

  async #copy(fence: Fence, signal: AbortSignal): Promise<void> {
    const { store } = this.#options;
    if (this.#copying === undefined) return this.#happened({ type: 'failed' });
    const { position, difference } = this.#copying;
    for (const [tree, subpages] of difference)
      if (subpages.length > 0)
        await copySubpages({
          store,
          link: this.link,
          tree,
          subpages,
          byPath: this.#suspects.length > 0,
          signal,
          apply: (operations) => this.#applyCopied(position, operations, fence),
        });
    await this.#recordCopied(fence, position);
    this.#happened({ type: 'copied' });
  }

  async #applyCopied(
    { logId }: PublishedPosition,
    operations: readonly WalOperation[],
    fence: Fence,
  ): Promise<void> {
    if (operations.length === 0) return;
    await this.#keys.ensureFor(operations);
    await this.#options.store.applyRecords(logId, operations, { fence });
    this.#change({ copiedRecordCount: this.#status.copiedRecordCount + operations.length });
  }

  async #recordCopied(fence: Fence, position: FollowPosition): Promise<void> {
    const { logId, walSequence: sequence, streamSequence: cursor, withheldGroups } = position;
    const { store } = this.#options;
    await store.applyRecords(logId, [], { fence, sequence, cursor });
    await this.followed.note(logId, withheldGroups, fence);
    this.#logId = logId;
    this.#suspects = [];
    const bytes = this.#status.bytesReceived - this.#bytesBeforeResync;
    this.#change({
      lastRemoteWal: sequence,
      lastKnownWal: sequence,
      resync: { records: this.#status.copiedRecordCount, bytes },
    });
  }

  async #stream(fence: Fence, signal: AbortSignal): Promise<void> {
    const { store, barrier, bus, kind, service, version, identity } = this.#options;
    const logId = this.#logId;
    // A failure is ignored, because known keys still decrypt the entries already in the stream.
    await this.link.loadPosition().catch(() => undefined);
    if (logId === undefined) return this.#happened({ type: 'stream_broken' });
    await applyStream(
      {
        store,
        bus,
        kind,
        stream: streamOfLog(logId, identity, service),
        logId,
        version,
        fence,
        promotion: this.promotion,
        epochKeys: this.link,
        beforeApplying: async (entries, wrappedKeyring) => {
          if (wrappedKeyring !== undefined)
            await extendKeyring(store, barrier, wrappedKeyring, { fence });
          await this.#keys.ensureFor(entries.flatMap(({ operations }) => operations));
        },
        onApplied: (sequence, bytes) => {
          this.#change({
            lastRemoteWal: sequence,
            lastKnownWal: Math.max(sequence, this.#status.lastKnownWal),
            bytesReceived: this.#status.bytesReceived + bytes,
          });
          this.#happened({ type: 'streamed' });
        },
      },
      signal,
    );
  }

  /** Sends heartbeats to the primary until `signal` aborts. A failure shows in the connection state. */
  async #beat(signal: AbortSignal): Promise<void> {
    const { heartbeatIntervalMs = HEARTBEAT_INTERVAL_MS } = this.#options;
    while (!signal.aborted) {
      await this.#sendHeartbeat().catch((error: unknown) =>
        this.#change({ refusal: hasCode(error, ...REFUSALS) ? error.message : undefined }),
      );
      await pause(this.#clock, heartbeatIntervalMs, signal);
    }
  }

  async #sendHeartbeat(): Promise<void> {
    const { apiAddress, clusterAddress, localClusterId, barrier } = this.#options;
    const ageMs = barrier.isSealed ? undefined : await this.canaryAgeMs().catch(() => undefined);
    const sentAtMs = this.#clock.nowMs();
    const wasUnheard = this.#newestQuestion === 'failed';
    const value = toHeartbeat(this.#status, {
      sentAtMs,
      canaryAgeMs: ageMs,
      apiAddress,
      clusterAddress,
      localClusterId: (await localClusterId?.()) ?? '',
    });
    const answer = await this.link.ask('heartbeat', { $case: 'heartbeat', value });
    const receivedAtMs = this.#clock.nowMs();
    // The primary is reachable again, so the failed step can be retried now.
    if (wasUnheard) this.#endIdling();
    if (this.#status.state === 'stream-wals' && answer.logId !== this.#logId) this.#beginAgain();
    this.#change({
      refusal: undefined,
      ...afterAnswer(this.#status, answer, { sentAtMs, receivedAtMs }),
    });
  }

  #happened(event: SecondaryEvent): void {
    const { mode, state, resumeWith, failureCount } = this.#status;
    this.#change(nextSecondaryState({ mode, state, resumeWith, failureCount }, event));
  }

  #change(change: Partial<SecondaryStatus>): void {
    this.#status = { ...this.#status, ...change };
    for (const listener of this.#listeners) listener();
  }
}
