/**
 * Strict reader of untrusted DER (X.690): definite, minimal lengths, low tag numbers, no trailing
 * bytes. It descends only where its caller asks, so deeply nested input costs nothing.
 */
import { KeelsonError } from '@keelson/errors';
import { TAG } from './der-types.ts';
import { parseObjectIdentifierContent } from './object-identifier.ts';

export interface DerElement {
  readonly tag: number;
  /** Tag, length and content. */
  readonly bytes: Uint8Array;
  readonly content: Uint8Array;
}

const malformed = (text: string): KeelsonError => new KeelsonError('pki.malformed', { text });

export class DerReader {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#offset >= this.#bytes.byteLength;
  }

  /** Tag of the next element; undefined at the end. */
  get nextTag(): number | undefined {
    return this.#bytes[this.#offset];
  }

  /**
   * The next element.
   * @throws KeelsonError `pki.malformed` when it is not DER or has another tag than expected
   */
  read(expectedTag?: number): DerElement {
    const start = this.#offset;
    const tag = this.#octet();
    if ((tag & 0x1f) === 0x1f) throw malformed('unsupported tag number');
    if (expectedTag !== undefined && tag !== expectedTag)
      throw malformed(`expected tag ${expectedTag.toString(16)}, found ${tag.toString(16)}`);
    const length = this.#length();
    const contentStart = this.#offset;
    if (length > this.#bytes.byteLength - contentStart) throw malformed('truncated element');
    this.#offset = contentStart + length;
    return {
      tag,
      bytes: this.#bytes.subarray(start, this.#offset),
      content: this.#bytes.subarray(contentStart, this.#offset),
    };
  }

  /** The next element when it has this tag. */
  readOptional(tag: number): DerElement | undefined {
    return this.nextTag === tag ? this.read(tag) : undefined;
  }

  /** A reader of the content of the next element. */
  enter(expectedTag: number = TAG.sequence): DerReader {
    return new DerReader(this.read(expectedTag).content);
  }

  /** Dotted text of the next element, an OBJECT IDENTIFIER. */
  readObjectIdentifier(): string {
    return parseObjectIdentifierContent(this.read(TAG.objectIdentifier).content);
  }

  /** Big-endian magnitude of the next element, an INTEGER that is not negative. */
  readUnsignedInteger(): Uint8Array {
    const { content } = this.read(TAG.integer);
    const [first, second] = content;
    if (first === undefined) throw malformed('empty integer');
    if ((first & 0x80) !== 0) throw malformed('negative integer');
    if (first !== 0 || content.byteLength === 1) return content;
    if (((second as number) & 0x80) === 0) throw malformed('integer is not minimal');
    return content.subarray(1);
  }

  /** A small non-negative INTEGER. */
  readSmallInteger(): number {
    const magnitude = this.readUnsignedInteger();
    if (magnitude.byteLength > 4) throw malformed('integer out of range');
    return magnitude.reduce((value, octet) => value * 256 + octet, 0);
  }

  /** Octets of the next element, a BIT STRING of whole octets. */
  readBitString(): Uint8Array {
    const { content } = this.read(TAG.bitString);
    if (content[0] !== 0) throw malformed('bit string has unused bits');
    return content.subarray(1);
  }

  /** Numbers of the bits that are set in the next element, a BIT STRING with named bits. */
  readNamedBits(): readonly number[] {
    const { content } = this.read(TAG.bitString);
    const unused = content[0];
    if (unused === undefined || unused > 7 || content.byteLength > 9)
      throw malformed('malformed bit string');
    const count = (content.byteLength - 1) * 8 - unused;
    return Array.from({ length: Math.max(0, count) }, (_, bit) => bit).filter(
      (bit) => ((content[1 + (bit >> 3)] as number) & (0x80 >> (bit & 7))) !== 0,
    );
  }

  /** BOOLEAN DEFAULT FALSE. */
  readOptionalBoolean(): boolean {
    const element = this.readOptional(TAG.boolean);
    if (element === undefined) return false;
    if (element.content.byteLength !== 1) throw malformed('malformed boolean');
    return element.content[0] !== 0;
  }

  /** Epoch milliseconds of the next element, a UTCTime or GeneralizedTime as RFC 5280 §4.1.2.5 allows. */
  readTime(): number {
    const { tag, content } = this.read();
    const text = Buffer.from(content).toString('latin1');
    if (tag !== TAG.utcTime && tag !== TAG.generalizedTime) throw malformed('expected a time');
    const digits = tag === TAG.generalizedTime ? text : `${text < '50' ? '20' : '19'}${text}`;
    const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits);
    const iso = parts
      ? `${parts[1]}-${parts[2]}-${parts[3]}T${parts[4]}:${parts[5]}:${parts[6]}Z`
      : '';
    const epochMs = Date.parse(iso);
    if (Number.isNaN(epochMs)) throw malformed('malformed time');
    return epochMs;
  }

  /** @throws KeelsonError `pki.malformed` when something follows */
  expectEnd(): void {
    if (!this.atEnd) throw malformed('trailing data');
  }

  #octet(): number {
    const octet = this.#bytes[this.#offset];
    if (octet === undefined) throw malformed('truncated element');
    this.#offset++;
    return octet;
  }

  #length(): number {
    const first = this.#octet();
    if (first < 0x80) return first;
    const octetCount = first & 0x7f;
    if (octetCount === 0 || octetCount > 4) throw malformed('unsupported length');
    let length = 0;
    for (let i = 0; i < octetCount; i++) length = length * 256 + this.#octet();
    if (length < 0x80 || length < 2 ** (8 * (octetCount - 1)))
      throw malformed('length not minimal');
    return length;
  }
}
