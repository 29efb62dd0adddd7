/**
 * Publishes a filtered log to each secondary with a filter. A publisher ends when the filter of its
 * secondary is removed, and starts when a filtered secondary is heard from.
 */
import { hasCode } from '@keelson/errors';
import type { FilterViews } from './filter-views.ts';
import { WalPublisher, type WalPublisherOptions } from './wal-publisher.ts';

/** Limits of each stream, lower than those of the common one because there may be many. */
const LIMITS = { maxBytes: 256 * 1024 ** 2, maxAgeMs: 24 * 3_600_000 };

export interface FilteredPublishersOptions extends Omit<WalPublisherOptions, 'filtered'> {
  readonly views: FilterViews;
  /** Called with the error that ended a publisher; it restarts when the secondary is next heard from. */
  readonly onFailure: (error: unknown) => void;
}

interface Running {
  readonly ending: AbortController;
  readonly ended: Promise<void>;
  /** It was requested again while it was ending. */
  isWantedAgain: boolean;
}

export class FilteredPublishers {
  readonly #options: FilteredPublishersOptions;
  readonly #running = new Map<string, Running>();
  #signal: AbortSignal | undefined;

  constructor(options: FilteredPublishersOptions) {
    this.#options = options;
  }

  /** Runs the publishers of all filtered secondaries until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
    this.#signal = signal;
    try {
      await this.refresh();
      await promise;
    } finally {
      this.#signal = undefined;
      await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    }
  }

  /** Starts the publisher of this secondary unless it is already running. */
  ensure(secondaryId: string): void {
    const signal = this.#signal;
    if (signal === undefined || signal.aborted) return;
    const running = this.#running.get(secondaryId);
    if (running !== undefined) {
      // A publisher that is ending may still wait for NATS, so the next one starts after it.
      running.isWantedAgain ||= running.ending.signal.aborted;
      return;
    }
    const ending = new AbortController();
    const publisher = new WalPublisher({
      limits: LIMITS,
      ...this.#options,
      filtered: { secondaryId, views: this.#options.views },
    });
    const ended = publisher
      .run(AbortSignal.any([signal, ending.signal]))
      .catch((error: unknown) => {
        if (!hasCode(error, 'replication.not_ready')) this.#options.onFailure(error);
      })
      .finally(() => {
        const isWantedAgain = this.#running.get(secondaryId)?.isWantedAgain === true;
        this.#running.delete(secondaryId);
        if (isWantedAgain) this.ensure(secondaryId);
      });
    this.#running.set(secondaryId, { ending, ended, isWantedAgain: false });
  }

  /** Applies changed filters at once, without waiting for the next entry. */
  async refresh(): Promise<void> {
    for (const { ending } of this.#running.values()) ending.abort();
    // A removed filter is included, so that its publisher can inform the secondary.
    const ids = [...this.#running.keys(), ...(await this.#options.views.filtered())];
    for (const id of new Set(ids)) this.ensure(id);
  }
}
