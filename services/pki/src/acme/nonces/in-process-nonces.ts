/**
 * Nonces for a service with one process: a number and a random secret, which is remembered until it
 * is used. Nothing outlives the process, so a nonce issued before a restart is refused.
 */
import { randomFillSync, timingSafeEqual } from 'node:crypto';
import type { Nonces } from './nonces.ts';

/**
 * Number of most recent nonces that are accepted. The client of an older one retries with a new
 * nonce.
 */
const USUAL_WINDOW = 1 << 17;
const NUMBER_BYTES = 6;
const SECRET_BYTES = 16;
/** Secrets generated at once, because a call for random bytes costs more than the bytes. */
const BATCH = 64;

/** @param window a multiple of 64 */
export const createInProcessNonces = (window = USUAL_WINDOW): Nonces => {
  /** By number modulo the window: 2 MiB. */
  const secrets = Buffer.alloc(window * SECRET_BYTES);
  /** One bit for each: whether it was used. */
  const used = new Uint8Array(window / 8);
  let issued = 0;

  const secretOf = (number: number): Buffer => {
    const at = (number % window) * SECRET_BYTES;
    return secrets.subarray(at, at + SECRET_BYTES);
  };

  /** Index of the byte and mask of the bit of a number. */
  const placeOf = (number: number): readonly [number, number] => {
    const at = number % window;
    return [at >> 3, 1 << (at & 7)];
  };

  return {
    issue: () => {
      const number = issued;
      // A batch overwrites up to 63 of the oldest accepted nonces early.
      if (number % BATCH === 0)
        randomFillSync(secrets, (number % window) * SECRET_BYTES, BATCH * SECRET_BYTES);
      issued = number + 1;
      const [byte, bit] = placeOf(number);
      used[byte] = (used[byte] as number) & ~bit;
      const bytes = Buffer.allocUnsafe(NUMBER_BYTES + SECRET_BYTES);
      bytes.writeUIntBE(number, 0, NUMBER_BYTES);
      secretOf(number).copy(bytes, NUMBER_BYTES);
      return Promise.resolve(bytes.toString('base64url'));
    },
    redeem: (nonce) => {
      const bytes = Buffer.from(nonce, 'base64url');
      if (bytes.byteLength !== NUMBER_BYTES + SECRET_BYTES || bytes.toString('base64url') !== nonce)
        return Promise.resolve(false);
      const number = bytes.readUIntBE(0, NUMBER_BYTES);
      const isKept = number < issued && number >= issued - window;
      if (!isKept || !timingSafeEqual(secretOf(number), bytes.subarray(NUMBER_BYTES)))
        return Promise.resolve(false);
      const [byte, bit] = placeOf(number);
      const isFresh = ((used[byte] as number) & bit) === 0;
      used[byte] = (used[byte] as number) | bit;
      return Promise.resolve(isFresh);
    },
  };
};
