/** Certificate serial numbers as big-endian magnitudes without leading zero octets. */
import { randomFillSync } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';

const OCTETS = 20;

/** Numbers drawn at once, because drawing one costs the same. */
const DRAWN_COUNT = 64;
const drawn = new Uint8Array(DRAWN_COUNT * OCTETS);
let taken = DRAWN_COUNT;

/** A new number, uniform below 2^159: positive and at most 20 octets (RFC 5280 §4.1.2.2). */
export const randomSerialNumber = (): Uint8Array => {
  if (taken === DRAWN_COUNT) {
    randomFillSync(drawn);
    taken = 0;
  }
  // A copy, because the returned number outlives the next draw.
  const octets = drawn.slice(taken * OCTETS, (taken + 1) * OCTETS);
  taken++;
  octets[0] = (octets[0] as number) & 0x7f;
  let start = 0;
  while (start < OCTETS - 1 && octets[start] === 0) start++;
  return octets.subarray(start);
};

/** "0a:1b:2c". */
export const toSerialHex = (serial: Uint8Array): string => toHex(serial, ':');

/** "0a-1b-2c": the form used in record paths. */
export const toSerialKey = (serial: Uint8Array): string => toHex(serial, '-');

const toHex = (serial: Uint8Array, separator: string): string => {
  const hex = Buffer.from(serial.buffer, serial.byteOffset, serial.byteLength).toString('hex');
  let text = hex.slice(0, 2);
  for (let at = 2; at < hex.length; at += 2) text += separator + hex.slice(at, at + 2);
  return text;
};

const SERIAL_TEXT = /^[0-9a-f]{1,2}(?:[:-]?[0-9a-f]{2}){0,63}$/i;

/**
 * A serial number from hexadecimal text with colons, hyphens or neither.
 * @throws KeelsonError `request.invalid`
 */
export const parseSerialText = (text: string): Uint8Array => {
  const trimmed = text.trim();
  if (!SERIAL_TEXT.test(trimmed))
    throw new KeelsonError('request.invalid', { text: 'malformed serial number' });
  const hex = trimmed.replaceAll(/[:-]/g, '');
  const octets = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  let start = 0;
  while (start < octets.byteLength - 1 && octets[start] === 0) start++;
  return octets.subarray(start);
};
