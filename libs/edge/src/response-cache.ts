/** An in-memory cache of responses with a size limit; the least recently used ones are evicted. */
import { LRUCache } from 'lru-cache';
import type { EdgeResponse } from './edge-service.ts';

/** A response with a check whether it is still valid. */
export type CacheableResponse = EdgeResponse & { readonly isStillValid: () => Promise<boolean> };

const MAX_BYTES = 128 * 1024 * 1024;
/** Largest response that is cached, including its key. */
const LARGEST_BYTES = 1024 * 1024;

/**
 * @param overheadBytes memory of an entry in addition to its key and content, including the memory that the
 * service keeps for it
 */
export const createResponseCache = <A extends { readonly response: CacheableResponse }>(
  overheadBytes: number,
): LRUCache<string, A> =>
  new LRUCache({
    maxSize: MAX_BYTES,
    maxEntrySize: LARGEST_BYTES,
    // Streamed bodies are not cached.
    sizeCalculation: ({ response: { body } }, key) =>
      body instanceof Uint8Array ? key.length + body.byteLength + overheadBytes : LARGEST_BYTES + 1,
  });
