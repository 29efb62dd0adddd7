import { CHUNK_BYTES, WINDOW_BYTES } from './edge-limits.ts';

/** The bytes that the peer still accepts on one id. */
export class SendWindow {
  #availableBytes = WINDOW_BYTES;
  #isClosed = false;
  #wake: (() => void) | undefined;

  /** Adds bytes that the peer grants after consuming others. */
  grant(bytes: number): void {
    this.#availableBytes += bytes;
    this.#wake?.();
  }

  /** Subtracts bytes that are sent in the frame of the head. */
  spend(bytes: number): void {
    this.#availableBytes -= bytes;
  }

  /** Stops senders, because the id has ended. */
  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Waits until there is room.
   * @returns bytes that may be sent, at most `wanted`; 0 when the id has ended
   */
  async take(wanted: number): Promise<number> {
    while (this.#availableBytes <= 0 && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    if (this.#isClosed) return 0;
    const taken = Math.min(wanted, this.#availableBytes, CHUNK_BYTES);
    this.#availableBytes -= taken;
    return taken;
  }
}

const NOTHING = Buffer.alloc(0);

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

interface BodySending {
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly window: SendWindow;
  /** Undefined while the socket accepts more. */
  readonly ready: () => Promise<void> | undefined;
  readonly send: (chunk: { body: Buffer; complete: boolean }) => void;
}

/**
 * Sends a body as fast as the peer's window and the socket allow, and stops early when the id ends. The
 * source is read only while there is room, so that back-pressure reaches its producer.
 */
export const sendBody = async ({ chunks, window, ready, send }: BodySending): Promise<void> => {
  for await (const chunk of chunks) {
    for (let offset = 0; offset < chunk.byteLength; ) {
      const taken = await window.take(chunk.byteLength - offset);
      if (taken === 0) return;
      const full = ready();
      if (full) await full;
      if (window.isClosed) return;
      send({ body: asBuffer(chunk.subarray(offset, offset + taken)), complete: false });
      offset += taken;
    }
  }
  if (!window.isClosed) send({ body: NOTHING, complete: true });
};
