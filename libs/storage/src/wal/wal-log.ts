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
  /** Aborted when the store closes. */
  readonly closed: AbortSignal;
}

/**
 * Settles with the promise or with the abort, whichever is first. `Promise.race` against one promise for the
 * abort would retain memory for each race until the abort, and a follower of a log may run as long as its process.
 */
const settledOrAborted = (promise: Promise<void>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      signal.removeEventListener('abort', end);
      resolve();
    };
    if (signal.aborted) resolve();
    else {
      signal.addEventListener('abort', end, { once: true });
      void promise.then(end);
    }
  });

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
    const ended = AbortSignal.any([signal, this.#options.closed]);
    let last = sequence;
    while (!ended.aborted) {
      const grown = this.#options.grown.next();
      const page = await this.#nextPage(last).catch((error: unknown) => {
        if (!ended.aborted) throw error;
        return [];
      });
      if (page.length === 0) await settledOrAborted(grown, ended);
      for (const entry of page) {
        if (ended.aborted) return;
        last = entry.sequence;
        yield entry;
      }
    }
  }

  /** Empty at the end of the log. */
  async #nextPage(last: number): Promise<readonly WalEntry[]> {
    const headSequence = await this.headSequence();
    if (last > headSequence)
      throw new KeelsonError('storage.wal_diverged', { sequence: last, headSequence });
    if (last === headSequence) return [];
    const count = Math.min(PAGE_ENTRIES, headSequence - last);
    const page = await this.#options.backend.loadEntries(last, count);
    if (page[0]?.sequence === last + 1) return page;
    const firstSequence = await this.firstSequence();
    throw new KeelsonError('storage.wal_pruned', { sequence: last + 1, firstSequence });
  }
}
