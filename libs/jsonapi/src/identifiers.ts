import { randomFillSync } from 'node:crypto';

/** In byte order. */
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** Milliseconds of 70 years. */
const TIME_LENGTH = 7;
const FIRST_MS = Date.UTC(2020, 0);
const RANDOM_LENGTH = 9;
// Bytes from here on would favour the first letters of the alphabet.
const UNBIASED_BELOW = BASE58.length * Math.floor(256 / BASE58.length);

/** Drawn for many ids at once: a draw costs about the same for a few bytes as for a thousand. */
const pool = Buffer.alloc(1024);
let nextAt = pool.length;

const randomByte = (): number => {
  if (nextAt === pool.length) {
    randomFillSync(pool);
    nextAt = 0;
  }
  return pool[nextAt++] ?? 0;
};

const timeCharacters = (nowMs: number): string => {
  let rest = Math.max(0, nowMs - FIRST_MS) % BASE58.length ** TIME_LENGTH;
  let text = '';
  for (let at = 0; at < TIME_LENGTH; at += 1) {
    text = BASE58.charAt(rest % BASE58.length) + text;
    rest = Math.floor(rest / BASE58.length);
  }
  return text;
};

/**
 * `<prefix>-` and 16 base-58 characters: 7 of the time, 9 random (53 bits). Ids that are made one after
 * the other are neighbours in every index, which writes fewer of its pages (docs/decisions/0087).
 */
export const newResourceId = (prefix: string): string => {
  let id = `${prefix}-${timeCharacters(Date.now())}`;
  for (let drawn = 0; drawn < RANDOM_LENGTH; ) {
    const byte = randomByte();
    if (byte >= UNBIASED_BELOW) continue;
    id += BASE58.charAt(byte % BASE58.length);
    drawn += 1;
  }
  return id;
};

/** True for text that may be an id of this prefix. Ids are opaque beyond their prefix. */
export const isResourceId = (prefix: string, text: string): boolean =>
  text.startsWith(`${prefix}-`) && /^[A-Za-z0-9-]{2,64}$/.test(text);
