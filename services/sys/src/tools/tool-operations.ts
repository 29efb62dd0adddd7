import { randomBytes } from 'node:crypto';
import type { Encoding } from './domain/digest.ts';

export const MAX_RANDOM_BYTES = 128 * 1024;

/** @param count at most `MAX_RANDOM_BYTES` */
export const randomText = (count: number, encoding: Encoding): string =>
  randomBytes(count).toString(encoding);
