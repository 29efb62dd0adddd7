import { BATCH_BYTES } from './edge-limits.ts';

/** The writable end of a gRPC stream of frame batches. */
export interface FrameSink<F> {
  write(batch: { frames: F[] }): boolean;
  on(event: 'drain', listener: () => void): unknown;
}

/**
 * Collects the frames of one turn of the event loop into one gRPC message, because each message costs about
 * 20 µs whatever its content. A single request does not wait for the turn to end. Heads and control frames
 * are always accepted; bodies wait for `ready` while the socket is full.
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
   * @param isAlone whether at most one id is open: there is then nothing to collect, and node:http2
   * sends a message one turn earlier if it is written before the turn ends
   */
  constructor(sink: FrameSink<F>, isAlone: () => boolean) {
    this.#sink = sink;
    this.#isAlone = isAlone;
    sink.on('drain', () => this.#release());
  }

  /** @param bodyBytes the size of the frame's body; the rest of the frame is not counted */
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

  /** Resolves when the socket accepts more; undefined if it already does. */
  ready(): Promise<void> | undefined {
    return this.#whenDrained?.promise;
  }

  /**
   * Stops writing.
   * @returns the frames that were not sent
   */
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
