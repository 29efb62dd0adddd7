import { randomBytes } from 'node:crypto';

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const RANDOM_LENGTH = 16;
// Bytes from here on would favour the first letters of the alphabet.
const UNBIASED_BELOW = BASE58.length * Math.floor(256 / BASE58.length);

/** `<prefix>-` and 16 random base-58 characters (94 bits). */
export const newResourceId = (prefix: string): string => {
  let random = '';
  while (random.length < RANDOM_LENGTH) {
    for (const byte of randomBytes(RANDOM_LENGTH + 4)) {
      if (byte < UNBIASED_BELOW && random.length < RANDOM_LENGTH) {
        random += BASE58[byte % BASE58.length];
      }
    }
  }
  return `${prefix}-${random}`;
};

/** True for text that may be an id of this prefix. Ids are opaque beyond their prefix. */
export const isResourceId = (prefix: string, text: string): boolean =>
  text.startsWith(`${prefix}-`) && /^[A-Za-z0-9-]{2,64}$/.test(text);
