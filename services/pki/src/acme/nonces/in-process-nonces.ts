/**
 * Nonces of a service that is one process: numbers with a MAC, and one bit each of memory for whether
 * they were used. The key lives as long as the process, so a nonce from before a restart is refused.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Nonces } from './nonces.ts';

/** How many of the last nonces are good; older ones are refused, and the client takes the new one. */
const USUAL_WINDOW = 1 << 20;
const NUMBER_BYTES = 8;
const TAG_BYTES = 16;

/** @param window a multiple of 8 */
export const createInProcessNonces = (window = USUAL_WINDOW): Nonces => {
  const key = randomBytes(32);
  const used = new Uint8Array(window / 8);
  let issued = 0;

  const tagOf = (number: Uint8Array): Buffer =>
    createHmac('sha256', key).update(number).digest().subarray(0, TAG_BYTES);

  /** Byte and bit of a number. */
  const placeOf = (number: number): readonly [number, number] => {
    const at = number % window;
    return [at >> 3, 1 << (at & 7)];
  };

  return {
    issue: () => {
      const number = issued++;
      const [byte, bit] = placeOf(number);
      used[byte] = (used[byte] as number) & ~bit;
      const bytes = Buffer.alloc(NUMBER_BYTES);
      bytes.writeBigUInt64BE(BigInt(number));
      return Promise.resolve(Buffer.concat([bytes, tagOf(bytes)]).toString('base64url'));
    },
    redeem: (nonce) => {
      const bytes = Buffer.from(nonce, 'base64url');
      if (bytes.byteLength !== NUMBER_BYTES + TAG_BYTES || bytes.toString('base64url') !== nonce)
        return Promise.resolve(false);
      const numberBytes = bytes.subarray(0, NUMBER_BYTES);
      if (!timingSafeEqual(tagOf(numberBytes), bytes.subarray(NUMBER_BYTES)))
        return Promise.resolve(false);
      const number = Number(numberBytes.readBigUInt64BE());
      if (number < issued - window) return Promise.resolve(false);
      const [byte, bit] = placeOf(number);
      const isFresh = ((used[byte] as number) & bit) === 0;
      used[byte] = (used[byte] as number) | bit;
      return Promise.resolve(isFresh);
    },
  };
};
