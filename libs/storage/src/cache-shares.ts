/** How a store divides the memory that it may use for its caches. */

export const DEFAULT_CACHE_BYTES = 40 * 1024 * 1024;

export interface CacheShares {
  /** For decrypted records. */
  readonly recordBytes: number;
  /** For the paths that the newest commits changed. */
  readonly changeBytes: number;
}

export const shareCache = (cacheBytes: number): CacheShares => {
  const changeBytes = Math.floor(cacheBytes / 5);
  return { recordBytes: cacheBytes - changeBytes, changeBytes };
};
