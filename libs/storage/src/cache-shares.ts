/** What the memory that a store may use for what it remembers is used for. */

/** Of a store that is not told otherwise. */
export const DEFAULT_CACHE_BYTES = 96 * 1024 * 1024;

export interface CacheShares {
  /** Decrypted records. */
  readonly recordBytes: number;
  /** Which paths the newest commits changed. */
  readonly changeBytes: number;
  /** Pages of the database, where they are in this process. */
  readonly pageBytes: number;
}

export const shareCache = (cacheBytes: number): CacheShares => {
  const recordBytes = Math.floor(cacheBytes / 3);
  const changeBytes = Math.floor(cacheBytes / 12);
  return { recordBytes, changeBytes, pageBytes: cacheBytes - recordBytes - changeBytes };
};
