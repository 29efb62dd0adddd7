/** Why logs are not published, although NATS can be reached: for operators, who see nothing else of it. */
import type { Clock } from '@keelson/clock';

/** Another replica that takes over, and a stream that is made again, end an attempt or two. */
const FAULTY_AFTER_MS = 5000;

export interface PublicationFault {
  readonly stream: string;
  readonly reason: string;
  readonly isOver: boolean;
}

interface Failing {
  readonly sinceMs: number;
  readonly reason: string;
  readonly isReported: boolean;
}

export class PublicationFaults {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #report: (fault: PublicationFault) => void;
  readonly #failing = new Map<string, Failing>();

  /** @param report called when a stream has not been published to for a while, and when it is again */
  constructor(clock: Pick<Clock, 'nowMs'>, report: (fault: PublicationFault) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  /** Records an attempt to publish that failed. */
  failed(stream: string, reason: string): void {
    const nowMs = this.#clock.nowMs();
    const { sinceMs = nowMs, isReported = false } = this.#failing.get(stream) ?? {};
    const isFaulty = nowMs - sinceMs >= FAULTY_AFTER_MS;
    this.#failing.set(stream, { sinceMs, reason, isReported: isReported || isFaulty });
    if (isFaulty && !isReported) this.#report({ stream, reason, isOver: false });
  }

  /** Records that a message was published, or that this replica publishes no longer. */
  ended(stream: string): void {
    const failing = this.#failing.get(stream);
    if (failing === undefined) return;
    this.#failing.delete(stream);
    if (failing.isReported) this.#report({ stream, reason: failing.reason, isOver: true });
  }

  /** The reasons why streams are not published to, each once. */
  reasons(): readonly string[] {
    const reported = [...this.#failing.values()].filter(({ isReported }) => isReported);
    return [...new Set(reported.map(({ reason }) => reason))];
  }
}
