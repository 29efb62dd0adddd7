import { KeelsonError } from '@keelson/errors';
import type { EdgeBody } from '../edge-service.ts';
import { WINDOW_BYTES } from './edge-limits.ts';

interface ReceivedBodyOptions {
  /** Allows the peer to send this many more bytes. */
  readonly grant: (bytes: number) => void;
  /** The reader stopped before the end. */
  readonly abandoned?: () => void;
}

/**
 * A body that arrives in chunks. It holds at most one window: the peer may send more only as the reader
 * consumes, so that a slow reader costs 128 KiB and does not delay others on the stream.
 */
export class ReceivedBody implements EdgeBody {
  readonly #options: ReceivedBodyOptions;
  #queue: Uint8Array[] = [];
  /** Bytes that the peer may still send. */
  #openBytes = WINDOW_BYTES;
  /** Bytes consumed but not yet granted again; grants are collected up to half a window. */
  #consumedBytes = 0;
  #isComplete = false;
  #isTaken = false;
  #failure: KeelsonError | undefined;
  #wake: (() => void) | undefined;

  constructor(options: ReceivedBodyOptions) {
    this.#options = options;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /**
   * @throws KeelsonError `edge.protocol_violation` when the peer exceeds its window or sends after the end
   */
  push(bytes: Uint8Array, complete: boolean): void {
    if (this.#isComplete) throw violation('no chunk after the last one');
    this.#openBytes -= bytes.byteLength;
    if (this.#openBytes < 0) throw violation('no more bytes than the window grants');
    if (bytes.byteLength > 0) this.#queue.push(bytes);
    this.#isComplete = complete;
    this.#wake?.();
  }

  /** Fails reading, because no more chunks will arrive. */
  fail(error: KeelsonError): void {
    if (this.#isComplete || this.#failure) return;
    this.#failure = error;
    this.#queue = [];
    this.#wake?.();
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    if (this.#isTaken) throw new TypeError('a body is read once');
    this.#isTaken = true;
    try {
      for (;;) {
        const chunk = this.#queue.shift();
        if (chunk) {
          yield chunk;
          this.#consumed(chunk.byteLength);
        } else if (this.#failure) throw this.#failure;
        else if (this.#isComplete) return;
        else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          this.#wake = undefined;
        }
      }
    } finally {
      if (!this.#isComplete || this.#queue.length > 0) {
        this.#queue = [];
        this.#options.abandoned?.();
      }
    }
  }

  async bytes(limitBytes: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of this.chunks()) {
      size += chunk.byteLength;
      if (size > limitBytes) throw new KeelsonError('request.too_large', { limitBytes });
      parts.push(chunk);
    }
    return Buffer.concat(parts, size);
  }

  #consumed(bytes: number): void {
    this.#consumedBytes += bytes;
    if (this.#isComplete || this.#failure || this.#consumedBytes < WINDOW_BYTES / 2) return;
    this.#openBytes += this.#consumedBytes;
    this.#options.grant(this.#consumedBytes);
    this.#consumedBytes = 0;
  }
}

export const violation = (rule: string): KeelsonError =>
  new KeelsonError('edge.protocol_violation', { rule });
