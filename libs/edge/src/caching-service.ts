/**
 * Caches responses to identified callers while the service confirms that they are still valid (decision 0023).
 * The caller of each request is resolved before the cache is used, and everything that was resolved is part of
 * the key.
 */
import type { Principal, RequestHead } from '@keelson/proto/edge/v1/edge';
import { LRUCache } from 'lru-cache';
import type { EdgeResponse, EdgeService } from './edge-service.ts';

/** Headers on which no cacheable response depends. A request with any other header goes to the service. */
const NEVER_MATTER: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-type',
  'content-encoding',
  'user-agent',
  'terraform-version',
  'x-terraform-integration',
]);

/**
 * Memory of an entry in addition to its key and content, including the reads that the service records for it;
 * measured.
 */
const OVERHEAD_BYTES = 1750;

const MAX_BYTES = 128 * 1024 * 1024;
/** Largest response that is cached, including its key. */
const LARGEST_BYTES = 1024 * 1024;

/** Number of remembered requests, about 2 MB. */
const MAX_ASKED = 32_768;

/**
 * FNV-1a over the characters, reduced to 30 bits because such a number takes no extra memory. On a collision,
 * a response that was requested only once is cached.
 */
const digestOf = (key: string): number => {
  let digest = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1)
    digest = Math.imul(digest ^ key.charCodeAt(at), 0x01000193);
  return digest >>> 2;
};

/**
 * The parts are joined by line ends: targets cannot contain one, and names are checked when they are created.
 */
const keyOf = ({ path, query }: RequestHead, principal: Principal): string => {
  const { kind, id, organization, tokenId, displayName, siteAdmin } = principal;
  return `${path}?${query}\n${kind}\n${id}\n${organization}\n${tokenId}\n${displayName}\n${siteAdmin}`;
};

const isCacheable = ({ method, headers }: RequestHead): boolean => {
  if (method !== 'GET') return false;
  for (const name in headers) if (!NEVER_MATTER.has(name)) return false;
  return true;
};

/** A response with a check whether it is still valid. */
type CacheableResponse = EdgeResponse & { readonly isStillValid: () => Promise<boolean> };

const createAnswers = (): LRUCache<string, CacheableResponse> =>
  new LRUCache({
    maxSize: MAX_BYTES,
    maxEntrySize: LARGEST_BYTES,
    // Streamed bodies are not cached.
    sizeCalculation: ({ body }, key) =>
      body instanceof Uint8Array
        ? key.length + body.byteLength + OVERHEAD_BYTES
        : LARGEST_BYTES + 1,
  });

export interface CachingService extends EdgeService {
  /** Removes every entry. */
  forget(): void;
}

/**
 * The service with a cache: a response to GET that has `isStillValid` is returned again to the same caller
 * while it is valid. Cached only from the second request on, because most responses are requested once and
 * storing one costs as much as building it.
 */
export const cacheResponses = (service: EdgeService): CachingService => {
  const answers = createAnswers();
  const asked = new LRUCache<number, true>({ max: MAX_ASKED });
  const wasAsked = (key: string): boolean => {
    const digest = digestOf(key);
    const isKnown = asked.has(digest);
    asked.set(digest, true);
    return isKnown;
  };
  return {
    describe: () => service.describe(),
    check: () => service.check(),
    position: () => service.position(),
    forget: () => answers.clear(),
    handle: async (request) => {
      const { head } = request;
      const { principal } = head;
      if (principal === undefined || !isCacheable(head)) return service.handle(request);
      const key = keyOf(head, principal);
      const known = answers.get(key);
      if (known !== undefined) {
        if (await known.isStillValid()) return known;
        answers.delete(key);
      }
      const response = await service.handle(request);
      const { isStillValid } = response;
      if (isStillValid !== undefined && wasAsked(key))
        answers.set(key, { ...response, isStillValid });
      return response;
    },
  };
};
