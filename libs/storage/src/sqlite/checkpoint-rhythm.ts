/**
 * When a checkpoint is due. Commits wait for it, and copying what the log holds keeps the event loop: a
 * large one is seen in the slowest answers, many small ones cost throughput. So it is small where little
 * is written, and large where much is.
 */

const LARGE_BYTES = 1024 * 1024;
const SMALL_BYTES = 256 * 1024;
/** Since the last one, for a small one. */
const SMALL_AFTER_MS = 250;

export class CheckpointRhythm {
  readonly #nowMs: () => number;
  #bytes = 0;
  #doneAtMs: number;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#doneAtMs = nowMs();
  }

  /** These many bytes came into the log. */
  grew(bytes: number): void {
    this.#bytes += bytes;
  }

  get isDue(): boolean {
    const elapsedMs = this.#nowMs() - this.#doneAtMs;
    return this.#bytes > (elapsedMs > SMALL_AFTER_MS ? SMALL_BYTES : LARGE_BYTES);
  }

  /** All that the log held is in the main file. */
  done(): void {
    this.#bytes = 0;
    this.#doneAtMs = this.#nowMs();
  }
}
