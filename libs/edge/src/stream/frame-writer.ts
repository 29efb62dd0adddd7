import { BATCH_BYTES } from './edge-limits.ts';

/** The writing half of a gRPC stream of frame batches. */
export interface FrameSink<F> {
  write(batch: { frames: F[] }): boolean;
  on(event: 'drain', listener: () => void): unknown;
}

/**
 * Gathers the frames of one turn of the event loop into one gRPC message: a message costs some 20 µs
 * whatever is in it. A request that is alone does not wait for the turn to end. Heads and control frames
 * are always taken; bodies wait for `ready` while the socket is full.
 */
export class FrameWriter<F> {
  readonly #sink: FrameSink<F>;
  readonly #isAlone: () => boolean;
  #pending: F[] = [];
  #pendingBytes = 0;
  #isScheduled = false;
  #isClosed = false;
  #whenDrained: PromiseWithResolvers<void> | undefined;
  readonly #flushScheduled = (): void => {
    this.#isScheduled = false;
    this.flush();
  };

  /**
   * @param isAlone whether one id at most is under way: then there is nothing to gather, and node:http2
   *   sends what is written before the end of the loop's turn a turn earlier
   */
  constructor(sink: FrameSink<F>, isAlone: () => boolean) {
    this.#sink = sink;
    this.#isAlone = isAlone;
    sink.on('drain', () => this.#release());
  }

  /** @param bodyBytes the part of the frame's size that matters */
  send(frame: F, bodyBytes = 0): void {
    if (this.#isClosed) return;
    this.#pending.push(frame);
    this.#pendingBytes += bodyBytes;
    if (this.#pendingBytes >= BATCH_BYTES) this.flush();
    else if (!this.#isScheduled) {
      this.#isScheduled = true;
      if (this.#isAlone()) process.nextTick(this.#flushScheduled);
      else setImmediate(this.#flushScheduled);
    }
  }

  flush(): void {
    if (this.#pending.length === 0 || this.#isClosed) return;
    const frames = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (!this.#sink.write({ frames })) this.#whenDrained ??= Promise.withResolvers();
  }

  /** Resolves when the socket takes more, at once when it does already. */
  ready(): Promise<void> | undefined {
    return this.#whenDrained?.promise;
  }

  /** Nothing is written any more. @returns the frames that never left */
  close(): readonly F[] {
    this.#isClosed = true;
    this.#release();
    return this.#pending;
  }

  #release(): void {
    this.#whenDrained?.resolve();
    this.#whenDrained = undefined;
  }
}
