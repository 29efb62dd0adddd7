import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { PublishOptions, StreamMessage, StreamOptions, StreamTail } from './message-bus.ts';
import { requirePosition } from './stream-position.ts';

/** Same value as for JetStream in `jetstream-bus.ts`. */
const DEDUPLICATION_WINDOW_MS = 120_000;

interface Kept extends StreamMessage {
  readonly publishedAtMs: number;
}

export class InProcessStream {
  readonly #clock: Clock;
  #options: StreamOptions;
  /** In ascending order without gaps. */
  #messages: Kept[] = [];
  #keptBytes = 0;
  #lastSequence = 0;
  /** In order of publication. */
  readonly #recentIds = new Map<string, { readonly sequence: number; readonly atMs: number }>();
  #grown = Promise.withResolvers<void>();

  constructor(options: StreamOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  limit(options: StreamOptions): void {
    this.#options = options;
    this.#prune();
  }

  append(
    payload: Uint8Array,
    { messageId, headers = {}, expectedLastSequence = this.#lastSequence }: PublishOptions,
  ): number {
    this.#forgetIds();
    const published = this.#recentIds.get(messageId);
    if (published !== undefined) return published.sequence;
    if (expectedLastSequence !== this.#lastSequence)
      throw new KeelsonError('bus.stream_moved', {
        stream: this.#options.stream,
        sequence: expectedLastSequence,
      });
    const publishedAtMs = this.#clock.nowMs();
    const streamSequence = ++this.#lastSequence;
    const kept = Uint8Array.from(payload);
    this.#messages.push({ streamSequence, messageId, headers, payload: kept, publishedAtMs });
    this.#keptBytes += kept.length;
    this.#recentIds.set(messageId, { sequence: streamSequence, atMs: publishedAtMs });
    this.#prune();
    this.#grown.resolve();
    this.#grown = Promise.withResolvers();
    return streamSequence;
  }

  tail(): StreamTail {
    this.#prune();
    return { lastSequence: this.#lastSequence, message: this.#messages.at(-1) };
  }

  async *follow(sequence: number, stop: AbortSignal): AsyncIterable<StreamMessage> {
    const stopped = Promise.withResolvers<void>();
    const wake = (): void => stopped.resolve();
    stop.addEventListener('abort', wake);
    try {
      for (let next = sequence + 1; !stop.aborted; ) {
        this.#prune();
        const firstSequence = this.#lastSequence - this.#messages.length + 1;
        requirePosition(this.#options.stream, next - 1, {
          firstSequence,
          lastSequence: this.#lastSequence,
        });
        const message = this.#messages[next - firstSequence];
        if (message === undefined) await Promise.race([this.#grown.promise, stopped.promise]);
        else {
          const { publishedAtMs: _, ...delivered } = message;
          yield delivered;
          next += 1;
        }
      }
    } finally {
      stop.removeEventListener('abort', wake);
    }
  }

  #prune(): void {
    const { maxBytes = Number.POSITIVE_INFINITY, maxAgeMs = Number.POSITIVE_INFINITY } =
      this.#options;
    const oldestMs = this.#clock.nowMs() - maxAgeMs;
    let dropped = 0;
    for (const { payload, publishedAtMs } of this.#messages) {
      if (this.#keptBytes <= maxBytes && publishedAtMs >= oldestMs) break;
      this.#keptBytes -= payload.length;
      dropped += 1;
    }
    if (dropped > 0) this.#messages = this.#messages.slice(dropped);
  }

  #forgetIds(): void {
    const oldestMs = this.#clock.nowMs() - DEDUPLICATION_WINDOW_MS;
    for (const [messageId, { atMs }] of this.#recentIds) {
      if (atMs >= oldestMs) break;
      this.#recentIds.delete(messageId);
    }
  }
}
