/** Division of the cache memory of a store. */

export const DEFAULT_CACHE_BYTES = 40 * 1024 * 1024;

export interface CacheShares {
  /** Bytes for decrypted records. */
  readonly recordBytes: number;
  /** Bytes for the paths that the newest commits changed. */
  readonly changeBytes: number;
}

export const shareCache = (cacheBytes: number): CacheShares => {
  const changeBytes = Math.floor(cacheBytes / 5);
  return { recordBytes: cacheBytes - changeBytes, changeBytes };
};
