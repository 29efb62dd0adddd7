/** The store's log as its followers see it: only what is on disk, in order, without gaps. */
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { PruneLimits, WalEntry, WalReader } from '../store.ts';
import type { LogGrowth } from './log-growth.ts';
import type { LogRows } from './log-rows.ts';
import { findFirstKept, isPrunable } from './prune.ts';

const PAGE_ENTRIES = 256;

export interface WalLogOptions {
  readonly backend: LogRows;
  /** Brings the replica to the head; resolves with its sequence. */
  readonly head: () => Promise<number>;
  readonly grown: LogGrowth;
  readonly clock: Clock;
  /** Lets followers inside the store read the entries that may be removed. */
  readonly beforePruning: () => Promise<void>;
  /** Runs work while this replica commits nothing. */
  readonly exclusively: (work: () => Promise<void>) => Promise<void>;
  /** Whether a record at or below one of these paths or prefixes changed after a position. */
  readonly hasChangedSince: (pathsOrPrefixes: readonly string[], position: number) => boolean;
  /** Aborted when the store closes. */
  readonly closed: AbortSignal;
}

export class WalLog implements WalReader {
  readonly #options: WalLogOptions;

  constructor(options: WalLogOptions) {
    this.#options = options;
  }

  headSequence(): Promise<number> {
    return this.#options.head();
  }

  async firstSequence(): Promise<number> {
    const head = await this.headSequence();
    return (await this.#options.backend.firstSequence()) ?? head + 1;
  }

  async prune(limits: PruneLimits): Promise<void> {
    const { backend, clock, exclusively, beforePruning } = this.#options;
    await beforePruning();
    const head = await this.headSequence();
    const newest = await backend.loadMark(head);
    if (newest === undefined) return;
    const nowMs = clock.nowMs();
    const firstKept = await findFirstKept(await this.firstSequence(), head, async (sequence) => {
      const mark = await backend.loadMark(sequence);
      return mark !== undefined && !isPrunable(sequence, mark, newest, limits, nowMs);
    });
    await exclusively(() => backend.deleteEntriesBefore(firstKept));
  }

  async *follow(sequence: number, signal: AbortSignal): AsyncIterable<WalEntry> {
    let last = sequence;
    for await (const page of this.#whatIsFound(signal, () => this.#nextPage(last)))
      for (const entry of page) {
        if (signal.aborted || this.#options.closed.aborted) return;
        last = entry.sequence;
        yield entry;
      }
  }

  changes(
    pathsOrPrefixes: readonly string[],
    sequence: number,
    signal: AbortSignal,
  ): AsyncIterable<number> {
    let last = sequence;
    return this.#whatIsFound(signal, async () => {
      const since = last;
      last = await this.#headAfter(since);
      if (!this.#options.hasChangedSince(pathsOrPrefixes, since)) return undefined;
      // Everything counts as changed when the records were replaced, with which their log has ended.
      const firstSequence = await this.firstSequence();
      if (firstSequence > since + 1)
        throw new KeelsonError('storage.wal_pruned', { sequence: since + 1, firstSequence });
      return since;
    });
  }

  /** Looks now and whenever the log may have grown, and at once again after something was found, until the end. */
  async *#whatIsFound<T>(
    signal: AbortSignal,
    look: () => Promise<T | undefined>,
  ): AsyncIterable<T> {
    const { closed, grown } = this.#options;
    const ended = AbortSignal.any([signal, closed]);
    // `Promise.race` against one promise for the abort would retain memory for each race until the abort, and a follower
    // may run as long as its process.
    const wake = (): void => grown.wake();
    ended.addEventListener('abort', wake, { once: true });
    try {
      while (!ended.aborted) {
        const growing = grown.next();
        const found = await look().catch((error: unknown) => {
          if (!ended.aborted) throw error;
          return undefined;
        });
        if (found === undefined) await growing;
        else yield found;
      }
    } finally {
      ended.removeEventListener('abort', wake);
    }
  }

  /** The head of the log. @throws KeelsonError `storage.wal_diverged` for a follower that is ahead of it */
  async #headAfter(last: number): Promise<number> {
    const headSequence = await this.headSequence();
    if (last > headSequence)
      throw new KeelsonError('storage.wal_diverged', { sequence: last, headSequence });
    return headSequence;
  }

  /** undefined at the end of the log. */
  async #nextPage(last: number): Promise<readonly WalEntry[] | undefined> {
    const headSequence = await this.#headAfter(last);
    if (last === headSequence) return undefined;
    const count = Math.min(PAGE_ENTRIES, headSequence - last);
    const page = await this.#options.backend.loadEntries(last, count);
    if (page[0]?.sequence === last + 1) return page;
    const firstSequence = await this.firstSequence();
    throw new KeelsonError('storage.wal_pruned', { sequence: last + 1, firstSequence });
  }
}
