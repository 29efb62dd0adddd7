/**
 * One secondary made of several replicas: only the elected replica follows the primary; the others report
 * its status and forward requests to it. Both go through node records.
 */
import { randomUUID } from 'node:crypto';
import { type Clock, pause } from '@keelson/clock';
import type { Fence } from '@keelson/storage';
import type { Difference, FollowerRecords, SecondaryStatus } from './follower-records.ts';

/** Interval at which requests of the other replicas are read. */
const POLL_MS = 1000;
const SILENT_AFTER_HEARTBEATS = 2;
const NEVER = new AbortController().signal;

/** This replica's own part. */
export interface OwnFollower {
  readonly status: () => SecondaryStatus;
  /** Newest entry of the primary's log in the store; 0 when none was streamed. */
  readonly appliedSequence: () => Promise<number>;
  /** Reports every change of the status; the returned function stops it. */
  readonly onChange: (listener: () => void) => () => void;
  readonly endIdling: () => void;
  readonly compareAgain: () => void;
  /** Resolves once the records equal the primary's, or when `signal` aborts. */
  readonly repair: (suspects: Difference, signal: AbortSignal) => Promise<void>;
}

export interface SharedFollowerOptions {
  readonly records: FollowerRecords;
  readonly own: OwnFollower;
  readonly clock: Clock;
  readonly heartbeatIntervalMs: number;
}

export class SharedFollower {
  readonly #options: SharedFollowerOptions;
  /** Undefined while this replica is not elected. `signal` aborts when it no longer is. */
  #elected: { readonly fence: Fence; readonly signal: AbortSignal } | undefined;
  /** The newest request that was carried out. */
  #handled = '';
  /** The facts of the newest report to the other replicas. */
  #reported = '';
  /** Settles when no report is being written. */
  #reporting: Promise<void> = Promise.resolve();
  #changed = Promise.withResolvers<void>();

  constructor(options: SharedFollowerOptions) {
    this.#options = options;
  }

  /** The status for operators. No replica answers with an earlier one afterwards. */
  async reportedStatus(): Promise<SecondaryStatus> {
    if (this.#elected === undefined) return this.status();
    const status = this.#options.own.status();
    // A status that cannot be written is the best there is.
    await this.#report(this.#elected.fence).catch(() => undefined);
    return status;
  }

  /** Status of the elected replica, whichever that is. */
  async status(): Promise<SecondaryStatus> {
    const { own, records, clock, heartbeatIntervalMs } = this.#options;
    const shared = this.#elected === undefined ? await records.findStatus() : undefined;
    if (shared === undefined) return own.status();
    const { status, writtenAtMs } = shared;
    const isSilent = clock.nowMs() - writtenAtMs > SILENT_AFTER_HEARTBEATS * heartbeatIntervalMs;
    return {
      ...status,
      lastRemoteWal: Math.max(await own.appliedSequence(), status.lastRemoteWal),
      connectionState: isSilent ? 'connecting' : status.connectionState,
    };
  }

  /** The primary's newest report, dated by its heartbeat; the process that received it may have ended. */
  async lastReport(): Promise<Partial<Pick<SecondaryStatus, 'heartbeat' | 'lastKnownWal'>>> {
    const { status } = (await this.#options.records.findStatus()) ?? {};
    return status === undefined
      ? {}
      : { heartbeat: status.heartbeat, lastKnownWal: status.lastKnownWal };
  }

  async recover(): Promise<void> {
    if (this.#elected !== undefined) this.#options.own.endIdling();
    else await this.#request(false, []);
  }

  async compareAgain(): Promise<void> {
    if (this.#elected !== undefined) this.#options.own.compareAgain();
    else await this.#request(true, []);
  }

  /** Resolves once the elected replica has made these records the primary's. */
  async repair(suspects: Difference): Promise<void> {
    const { own, records, clock } = this.#options;
    if (this.#elected !== undefined) return own.repair(suspects, this.#elected.signal);
    const id = await this.#request(true, suspects);
    while ((await records.findStatus())?.handled !== id && own.status().state !== 'shutdown')
      await pause(clock, POLL_MS, NEVER);
  }

  async #request(compares: boolean, suspects: Difference): Promise<string> {
    const id = randomUUID();
    await this.#options.records.request({ id, compares, suspects });
    return id;
  }

  /** While this replica is elected: until `signal` aborts. */
  async runElected(fence: Fence, signal: AbortSignal): Promise<void> {
    const { records, own } = this.#options;
    this.#handled = (await records.findStatus().catch(() => undefined))?.handled ?? '';
    this.#reported = '';
    this.#elected = { fence, signal };
    const stop = own.onChange(() => this.#changed.resolve());
    const raise = (): void => this.#changed.resolve();
    signal.addEventListener('abort', raise, { once: true });
    try {
      await Promise.all([this.#reportStatus(fence, signal), this.#handleRequests(signal)]);
    } finally {
      this.#elected = undefined;
      stop();
    }
  }

  /** Reports each change of the state, and each heartbeat, answered or not. */
  async #reportStatus(fence: Fence, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#changed = Promise.withResolvers();
      const changed = this.#changed.promise;
      await this.#report(fence).then(
        () => changed,
        () => pause(this.#options.clock, POLL_MS, signal),
      );
    }
  }

  /** Writes the status for the other replicas unless it is what they know; one report after the other. */
  #report(fence: Fence): Promise<void> {
    const reporting = this.#reporting.then(() => this.#reportNews(fence));
    this.#reporting = reporting.catch(() => undefined);
    return reporting;
  }

  async #reportNews(fence: Fence): Promise<void> {
    const { records, own, clock, heartbeatIntervalMs } = this.#options;
    const status = own.status();
    const handled = this.#handled;
    const { mode, state, connectionState, refusal, heartbeat, resync } = status;
    const beat = Math.floor(clock.nowMs() / heartbeatIntervalMs);
    const news = [
      mode,
      state,
      connectionState,
      refusal,
      heartbeat?.atMs,
      resync.bytes,
      handled,
      beat,
    ].join();
    if (news === this.#reported) return;
    await records.saveStatus({ status, writtenAtMs: clock.nowMs(), handled }, fence);
    this.#reported = news;
  }

  async #handleRequests(signal: AbortSignal): Promise<void> {
    const { records, own, clock } = this.#options;
    while (!signal.aborted) {
      this.#changed.resolve();
      const request = await records.findRequest().catch(() => undefined);
      if (request !== undefined && request.id !== this.#handled) {
        if (request.suspects.length > 0) await own.repair(request.suspects, signal);
        else if (request.compares) own.compareAgain();
        else own.endIdling();
        this.#handled = request.id;
        this.#changed.resolve();
      }
      await pause(clock, POLL_MS, signal);
    }
  }
}
