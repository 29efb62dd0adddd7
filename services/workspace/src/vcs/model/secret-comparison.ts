import { createHmac, timingSafeEqual } from 'node:crypto';

const digest = (text: string): Buffer => createHmac('sha256', 'compared').update(text).digest();

/** Compares in a time that does not depend on where two texts differ, or on their lengths. */
export const isSameSecret = (given: string | undefined, expected: string): boolean =>
  given !== undefined && timingSafeEqual(digest(given), digest(expected));
