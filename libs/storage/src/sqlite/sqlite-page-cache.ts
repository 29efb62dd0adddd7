/**
 * How many pages SQLite keeps. When pages split it gives one the number of the page at 1 GiB for a moment,
 * and then each commit of a file that ends before looks at every page that is kept for some past the end:
 * with 64 MiB of them that takes 0.6 ms. The file is mapped up to there, so few need be kept. What lies
 * beyond is read by system calls, and the commits of such a file look at none. See docs/decisions/0091.
 */
import { fstatSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

const LOCK_PAGE_AT = 1_073_741_824;
const FEW_BYTES = 8 * 1024 * 1024;

/**
 * @param cacheBytes at most
 * @returns whether the file reaches beyond that page, as it then does for good
 */
export const fitPageCache = (
  database: DatabaseSync,
  fileDescriptor: number,
  cacheBytes: number,
): boolean => {
  const isLarge = fstatSync(fileDescriptor).size > LOCK_PAGE_AT;
  const bytes = isLarge ? cacheBytes : Math.min(cacheBytes, FEW_BYTES);
  database.exec(`PRAGMA cache_size = -${Math.ceil(bytes / 1024)}`);
  return isLarge;
};
