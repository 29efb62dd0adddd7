import { randomFillSync } from 'node:crypto';

/** In byte order. */
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** Enough for the milliseconds of 70 years. */
const TIME_LENGTH = 7;
const FIRST_MS = Date.UTC(2020, 0);
const RANDOM_LENGTH = 9;
// Bytes from this value on would make the first letters of the alphabet more likely.
const UNBIASED_BELOW = BASE58.length * Math.floor(256 / BASE58.length);

/** Random bytes for many ids, because drawing a thousand costs about the same as drawing a few. */
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
 * `<prefix>-` and 16 base-58 characters: 7 of the time, 9 random (53 bits). Ids that are created in sequence
 * are adjacent in every index, so that fewer index pages are written (docs/decisions/0003).
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

/** Whether the text may be an id with this prefix. The rest of an id is opaque. */
export const isResourceId = (prefix: string, text: string): boolean =>
  text.startsWith(`${prefix}-`) && /^[A-Za-z0-9-]{2,64}$/.test(text);
