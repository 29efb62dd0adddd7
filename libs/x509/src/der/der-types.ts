/** The ASN.1 types that X.509 structures are made of, written as DER. */
import { LRUCache } from 'lru-cache';
import { constructed, type Der, type DerNode, encodeDer, primitive } from './der-writer.ts';

/** Identifier octets. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  enumerated: 0x0a,
  utf8String: 0x0c,
  printableString: 0x13,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Identifier octet of a context-specific tag (number below 31). */
export const contextTag = (number: number, form: 'primitive' | 'constructed'): number =>
  (form === 'constructed' ? 0xa0 : 0x80) | number;

export const sequence = (...parts: readonly Der[]): DerNode => constructed(TAG.sequence, parts);

/** SET OF: X.690 §11.6 orders the encodings as octet strings. */
export const setOf = (parts: readonly Der[]): DerNode =>
  parts.length < 2
    ? constructed(TAG.set, parts)
    : constructed(
        TAG.set,
        parts.map(encodeDer).sort((a, b) => Buffer.compare(a, b)),
      );

/** EXPLICIT context tag around one element. */
export const explicit = (number: number, part: Der): DerNode =>
  constructed(contextTag(number, 'constructed'), [part]);

const TRUE = encodeDer(primitive(TAG.boolean, Uint8Array.of(0xff)));

/** BOOLEAN TRUE. FALSE is always the default here, and DER omits defaults (X.690 §11.5). */
export const derTrue = (): Uint8Array => TRUE;

export const derNull = (): DerNode => primitive(TAG.null, new Uint8Array(0));

/** Content octets of an INTEGER from an unsigned big-endian magnitude: minimal and never negative. */
export const unsignedIntegerContent = (magnitude: Uint8Array): Uint8Array => {
  let start = 0;
  while (start < magnitude.byteLength - 1 && magnitude[start] === 0) start++;
  const minimal = magnitude.subarray(start);
  if (minimal.byteLength === 0) return Uint8Array.of(0);
  if (((minimal[0] as number) & 0x80) === 0) return minimal;
  const padded = new Uint8Array(minimal.byteLength + 1);
  padded.set(minimal, 1);
  return padded;
};

/** INTEGER from an unsigned big-endian magnitude. */
export const unsignedInteger = (magnitude: Uint8Array): DerNode =>
  primitive(TAG.integer, unsignedIntegerContent(magnitude));

/** Big-endian magnitude of a non-negative number, without leading zero octets (0 is one octet). */
export const toMagnitude = (value: bigint | number): Uint8Array => {
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
};

/** INTEGER from a non-negative number. */
export const integer = (value: bigint | number): DerNode => unsignedInteger(toMagnitude(value));

export const octetString = (content: Uint8Array): DerNode => primitive(TAG.octetString, content);

/** BIT STRING of whole octets. */
export const bitString = (content: Uint8Array): DerNode => {
  const octets = new Uint8Array(content.byteLength + 1);
  octets.set(content, 1);
  return primitive(TAG.bitString, octets);
};

/** BIT STRING with named bits: trailing zero bits are cut off (X.690 §11.2.2). Bit 0 is the first. */
export const namedBits = (bits: readonly number[]): DerNode => {
  const highest = Math.max(-1, ...bits);
  const octets = new Uint8Array(1 + Math.ceil((highest + 1) / 8));
  for (const bit of bits) {
    const at = 1 + (bit >> 3);
    octets[at] = (octets[at] as number) | (0x80 >> (bit & 7));
  }
  octets[0] = highest < 0 ? 0 : 7 - (highest & 7);
  return primitive(TAG.bitString, octets);
};

export const utf8String = (text: string): DerNode =>
  primitive(TAG.utf8String, Buffer.from(text, 'utf8'));

export const printableString = (text: string): DerNode =>
  primitive(TAG.printableString, Buffer.from(text, 'latin1'));

export const ia5String = (text: string): DerNode =>
  primitive(TAG.ia5String, Buffer.from(text, 'latin1'));

const FIRST_UTC_TIME_MS = Date.UTC(1950, 0, 1);
const FIRST_GENERALIZED_TIME_MS = Date.UTC(2050, 0, 1);

// Certificates made in one second share their times.
const knownTimes = new LRUCache<number, string>({ max: 64 });

/** "2026-11-20T20:14:32.000Z" -> "20261120201432Z" */
const timeDigits = (epochMs: number): string => {
  const known = knownTimes.get(epochMs);
  if (known !== undefined) return known;
  const digits = `${new Date(epochMs).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`;
  knownTimes.set(epochMs, digits);
  return digits;
};

/** GeneralizedTime without fractions for any year, as OCSP requires. */
export const generalizedTime = (epochMs: number): DerNode =>
  primitive(TAG.generalizedTime, Buffer.from(timeDigits(epochMs), 'latin1'));

/** Time as RFC 5280 §4.1.2.5 writes it: UTCTime through 2049, GeneralizedTime from 2050, no fractions. */
export const time = (epochMs: number): DerNode =>
  epochMs >= FIRST_UTC_TIME_MS && epochMs < FIRST_GENERALIZED_TIME_MS
    ? primitive(TAG.utcTime, Buffer.from(timeDigits(epochMs).slice(2), 'latin1'))
    : generalizedTime(epochMs);
