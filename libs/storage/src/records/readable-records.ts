/** Reads for lists, in which one damaged record must not hide the others. */

import { isDamage } from '@keelson/errors';
import type { Reads } from '../store.ts';

/** The result of `work`; undefined if it needs a record that cannot be read. */
export const unlessDamaged = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
};

/** The same reads, without records that cannot be read. `Store.damagedPaths` names them. */
export const readableOnly = (reads: Reads): Reads => ({
  read: (path) => unlessDamaged(reads.read(path)),
  readAs: (path, decoder) => unlessDamaged(reads.readAs(path, decoder)),
  list: (prefix, options) => reads.list(prefix, options),
  scan: (prefix, options) => reads.scan(prefix, { onDamaged: () => undefined, ...options }),
  scanAs: (prefix, decoder, options) =>
    reads.scanAs(prefix, decoder, { onDamaged: () => undefined, ...options }),
});
