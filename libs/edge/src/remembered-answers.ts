/** Answers in memory under a key of their request, bounded by number and by size; the oldest go first. */
import type { EdgeResponse } from './edge-service.ts';

/** An answer that can be asked whether it still stands. */
export type StandingResponse = EdgeResponse & { readonly stands: () => Promise<boolean> };

const MAX_ANSWERS = 131_072;
const MAX_BYTES = 128 * 1024 * 1024;
/** Of one answer with its key. */
const LARGEST_BYTES = 1024 * 1024;

export class RememberedAnswers<A extends { readonly response: StandingResponse }> {
  readonly #answers = new Map<string, A>();
  readonly #overheadBytes: number;
  #bytes = 0;

  /** @param overheadBytes what an answer takes besides its key and its content, in the service too */
  constructor(overheadBytes: number) {
    this.#overheadBytes = overheadBytes;
  }

  find(key: string): A | undefined {
    return this.#answers.get(key);
  }

  put(key: string, answer: A): void {
    const bytes = this.#sizeOf(key, answer);
    if (bytes > LARGEST_BYTES) return;
    this.delete(key);
    this.#answers.set(key, answer);
    this.#bytes += bytes;
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= MAX_ANSWERS && this.#bytes <= MAX_BYTES) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const former = this.#answers.get(key);
    if (former === undefined) return;
    this.#answers.delete(key);
    this.#bytes -= this.#sizeOf(key, former);
  }

  clear(): void {
    this.#answers.clear();
    this.#bytes = 0;
  }

  #sizeOf(key: string, { response: { body } }: A): number {
    return body instanceof Uint8Array
      ? key.length + body.byteLength + this.#overheadBytes
      : Infinity;
  }
}
