/** A client connection that continues, from a given byte, under a new parser. */

import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { guarded } from '@keelson/errors';

const METHOD = Buffer.from('LIST ');
/** Same length as LIST and known to the parser; never answered as LINK (see `ListMethod.admit`). */
const STAND_IN = Buffer.from('LINK ');

/** Begins with a LIST request, whose method the parser sees as the stand-in. */
export class ContinuedConnection extends Duplex {
  readonly raw: Socket;
  /** Property of node:tls that distinguishes HTTPS from HTTP. */
  readonly encrypted: boolean;
  /** Property of node:tls; without a protocol, a server of HTTP/2 continues with HTTP/1.1. */
  readonly alpnProtocol = false;
  /** Set when the method only began like LIST, so the parser is right to refuse it. */
  isOtherMethod = false;
  #letters = Buffer.alloc(0);
  #isMethodSeen = false;
  #isListPending = true;
  #isReleased = false;
  readonly #listeners: readonly [string, (...args: never[]) => void][];

  constructor(raw: Socket, encrypted: boolean) {
    super({ allowHalfOpen: true });
    this.raw = raw;
    this.encrypted = encrypted;
    this.#listeners = [
      ['data', guarded('gateway/server', (chunk: Buffer) => this.receive(chunk))],
      ['end', guarded('gateway/server', () => this.push(null))],
      ['close', () => this.destroy()],
      ['timeout', () => this.emit('timeout')],
    ];
    for (const [event, listener] of this.#listeners) raw.on(event, listener as () => void);
  }

  /** Receives bytes of the client; the first ones contain the method. */
  receive(chunk: Buffer): void {
    const admitted = this.#isMethodSeen ? chunk : this.#admit(chunk);
    if (admitted !== undefined && admitted.length > 0 && !this.push(admitted)) this.raw.pause();
  }

  /**
   * Replaces the method once it is complete; other data that starts with the same letters goes to the parser
   * unchanged.
   */
  #admit(chunk: Buffer): Buffer | undefined {
    const held = Buffer.concat([this.#letters, chunk]);
    const present = held.subarray(0, METHOD.length);
    if (!METHOD.subarray(0, present.length).equals(present)) {
      this.#isMethodSeen = true;
      this.#isListPending = false;
      this.isOtherMethod = true;
      return held;
    }
    this.#letters = held;
    if (present.length < METHOD.length) return undefined;
    this.#isMethodSeen = true;
    return Buffer.concat([STAND_IN, held.subarray(METHOD.length)]);
  }

  /** Returns true once, for the first request. */
  takeList(): boolean {
    const isList = this.#isListPending;
    this.#isListPending = false;
    return isList;
  }

  /**
   * Detaches from the client's connection.
   * @returns bytes that were received but not parsed
   */
  release(): Buffer {
    this.#isReleased = true;
    for (const [event, listener] of this.#listeners) this.raw.off(event, listener as () => void);
    const unread: Buffer[] = [];
    for (
      let chunk = this.read() as Buffer | null;
      chunk !== null;
      chunk = this.read() as Buffer | null
    )
      unread.push(chunk);
    this.destroy();
    return Buffer.concat(unread);
  }

  override _read(): void {
    this.raw.resume();
  }

  override _write(
    chunk: Buffer,
    encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    this.raw.write(chunk, encoding, done);
  }

  override _writev(
    chunks: { chunk: Buffer; encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    this.raw.cork();
    chunks.forEach(({ chunk, encoding }, index) => {
      this.raw.write(chunk, encoding, index === chunks.length - 1 ? done : undefined);
    });
    this.raw.uncork();
  }

  override _final(done: () => void): void {
    this.raw.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#isReleased) this.raw.destroy();
    done(error);
  }

  // Methods of a socket that node:http calls on a connection, in addition to those of a stream.
  setTimeout(timeoutMs: number): this {
    this.raw.setTimeout(timeoutMs);
    return this;
  }

  setNoDelay(noDelay?: boolean): this {
    this.raw.setNoDelay(noDelay);
    return this;
  }

  setKeepAlive(enable?: boolean, delayMs?: number): this {
    this.raw.setKeepAlive(enable, delayMs);
    return this;
  }

  get remoteAddress(): string | undefined {
    return this.raw.remoteAddress;
  }
}
