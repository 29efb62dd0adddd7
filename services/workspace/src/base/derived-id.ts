import { createHash } from 'node:crypto';

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Derives an id of the usual form from a key: the same key always gives the same id. */
export const derivedId = (prefix: string, ...parts: readonly string[]): string => {
  const digest = createHash('sha256').update(parts.join('/')).digest();
  const characters = [...digest.subarray(0, 16)].map((byte) => BASE58[byte % BASE58.length]);
  return `${prefix}-${characters.join('')}`;
};
