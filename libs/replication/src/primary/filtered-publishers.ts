/**
 * Publishes to each filtered secondary the log as its filter leaves it. A publisher ends when its secondary
 * has no filter any more, and begins when one is heard of that has.
 */
import { hasCode } from '@keelson/errors';
import type { FilterViews } from './filter-views.ts';
import { WalPublisher, type WalPublisherOptions } from './wal-publisher.ts';

/** Of each stream: there may be many. */
const LIMITS = { maxBytes: 256 * 1024 ** 2, maxAgeMs: 24 * 3_600_000 };

export interface FilteredPublishersOptions extends Omit<WalPublisherOptions, 'filtered'> {
  readonly views: FilterViews;
  /** What ended a publisher before its time; it begins again with the next sign of the secondary. */
  readonly onFailure: (error: unknown) => void;
}

interface Running {
  readonly ending: AbortController;
  readonly ended: Promise<void>;
  /** It was asked for while it was ending. */
  isWantedAgain: boolean;
}

export class FilteredPublishers {
  readonly #options: FilteredPublishersOptions;
  readonly #running = new Map<string, Running>();
  #signal: AbortSignal | undefined;

  constructor(options: FilteredPublishersOptions) {
    this.#options = options;
  }

  /** Until `signal` aborts. */
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

  /** Begins with this secondary, unless it is published to already. */
  ensure(secondaryId: string): void {
    const signal = this.#signal;
    if (signal === undefined || signal.aborted) return;
    const running = this.#running.get(secondaryId);
    if (running !== undefined) {
      // One that is ending may wait for NATS: the next begins after it.
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

  /** Filters were set, changed or removed: all are looked at again, without waiting for the next entry. */
  async refresh(): Promise<void> {
    for (const { ending } of this.#running.values()) ending.abort();
    // Also where there is no filter any more: the secondary is told.
    const ids = [...this.#running.keys(), ...(await this.#options.views.filtered())];
    for (const id of new Set(ids)) this.ensure(id);
  }
}
