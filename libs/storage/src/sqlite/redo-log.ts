/**
 * What was committed since the file of a store was whole on disk, in a file beside it: a commit is on disk
 * once its record is flushed here, before anything of it is written to the tables. Records follow each
 * other from the start of the file; after some checkpoints they begin there anew, over those of before. A
 * record is
 *   4 bytes length of the content, 4 bytes CRC-32 of all that follows, big endian
 *   8 bytes newest sequence before it, 8 bytes of log before it: where in the store's log it belongs
 *   its content
 * See docs/decisions/0097 and 0100.
 */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  write as writeTo,
} from 'node:fs';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { KeelsonError } from '@keelson/errors';

const flush = promisify(fdatasync);
const write = promisify(writeTo);

const HEADER_BYTES = 24;
/**
 * By so much the file grows at a time: to flush what lies within it, the file system writes nothing about
 * the file, which others that write to the disk would wait for.
 */
const GROWTH_BYTES = 1024 * 1024;
/** Of a header, before what the checksum is of. */
const CHECKED_FROM = 8;

/** A place in the log of a store. */
export interface LogPosition {
  readonly sequence: number;
  /** Of all entries up to it, as they are stored. */
  readonly logBytes: number;
}

export class RedoLog {
  readonly #descriptor: number;
  /** Of the file. */
  #size: number;
  #end = 0;
  /** Where the newest record begins. */
  #newest = 0;

  /** @param mode of the file, if it is made */
  constructor(file: string, mode: number) {
    this.#descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT, mode);
    this.#size = fstatSync(this.#descriptor).size;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Of what was appended since it began anew. */
  get bytes(): number {
    return this.#end;
  }

  /**
   * The contents of the records that follow `position`, which moves as they are carried out. Those of before
   * are passed over; what is not whole, or belongs elsewhere, is the end.
   */
  *after(position: () => LogPosition): Generator<Buffer> {
    for (let at = 0; ; ) {
      const record = this.#read(at);
      if (record === undefined) return;
      const { sequence, logBytes } = position();
      if (record.sequence > sequence) return;
      if (record.sequence === sequence) {
        if (record.logBytes !== logBytes) return;
        yield record.content;
      }
      at += HEADER_BYTES + record.content.length;
    }
  }

  /**
   * Resolves when it is on disk.
   * @throws KeelsonError `storage.full`: nothing was added; after any other error what the disk holds is
   *   unknown
   */
  async append({ sequence, logBytes }: LogPosition, content: readonly Uint8Array[]): Promise<void> {
    const header = Buffer.alloc(HEADER_BYTES);
    const record = Buffer.concat([header, ...content]);
    record.writeUInt32BE(record.length - HEADER_BYTES, 0);
    record.writeBigUInt64BE(BigInt(sequence), 8);
    record.writeBigUInt64BE(BigInt(logBytes), 16);
    record.writeUInt32BE(crc32(record.subarray(CHECKED_FROM)), 4);
    try {
      await this.#write(record, this.#end);
    } catch (error) {
      throw isOutOfRoom(error) ? new KeelsonError('storage.full', {}, { cause: error }) : error;
    }
    await this.#grow(this.#end + record.length);
    await flush(this.#descriptor);
    this.#newest = this.#end;
    this.#end += record.length;
  }

  /** Takes the newest record back: it could not be carried out. */
  async retract(): Promise<void> {
    await this.#write(Buffer.alloc(HEADER_BYTES), this.#newest);
    await flush(this.#descriptor);
    this.#end = this.#newest;
  }

  /** To be called when all that was appended is in the file of the store, and that is on disk. */
  restart(): void {
    this.#end = 0;
  }

  /** @param isDone whether all that was appended is in the file of the store */
  close({ isDone }: { readonly isDone: boolean }): void {
    if (isDone) ftruncateSync(this.#descriptor, 0);
    closeSync(this.#descriptor);
  }

  #read(at: number): (LogPosition & { readonly content: Buffer }) | undefined {
    const header = this.#readWhole(at, HEADER_BYTES);
    if (header === undefined) return undefined;
    const content = this.#readWhole(at + HEADER_BYTES, header.readUInt32BE(0));
    if (content === undefined) return undefined;
    if (crc32(content, crc32(header.subarray(CHECKED_FROM))) !== header.readUInt32BE(4))
      return undefined;
    const [sequence, logBytes] = [header.readBigUInt64BE(8), header.readBigUInt64BE(16)];
    return { sequence: Number(sequence), logBytes: Number(logBytes), content };
  }

  #readWhole(at: number, length: number): Buffer | undefined {
    if (at + length > this.#size) return undefined;
    const bytes = Buffer.alloc(length);
    return readSync(this.#descriptor, bytes, 0, length, at) === length ? bytes : undefined;
  }

  /** Zeros behind what was written, where the file ended there. */
  async #grow(end: number): Promise<void> {
    if (end <= this.#size) return;
    this.#size = end;
    try {
      await this.#write(Buffer.alloc(GROWTH_BYTES), end);
      this.#size += GROWTH_BYTES;
    } catch (error) {
      if (!isOutOfRoom(error)) throw error;
    }
  }

  async #write(bytes: Uint8Array, at: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await write(
        this.#descriptor,
        bytes,
        done,
        bytes.length - done,
        at + done,
      );
      done += bytesWritten;
    }
  }
}

const isOutOfRoom = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['ENOSPC', 'EDQUOT'].includes(String(error.code));
