/**
 * Answers to requests without credentials. A cached answer is valid while the decision of sys is
 * based on the same state (`DecisionStates`) and the service confirms that its answer is still
 * valid. Both compare with the heads of their stores; nothing expires by time. The cache is used
 * only within one process: a gateway that reaches its services over the network does not cache.
 */
import type { IncomingMessage } from 'node:http';
import type { CacheableResponse, EdgeBody } from '@keelson/edge';

export interface CachedAnswer {
  /** State that the decision was based on. */
  readonly state: object;
  readonly response: CacheableResponse;
  /** For metrics. */
  readonly group: string;
}

/**
 * The state on which decisions about requests without a token are based: the same object while they
 * are valid; undefined while sealed.
 */
export type DecisionStates = () => Promise<object | undefined>;

/**
 * Measured memory per answer in addition to its key and content, including the part held by pki.
 */
export const OVERHEAD_BYTES = 650;

const LARGEST_REQUEST_BODY_BYTES = 4096;

/** Headers that a response may depend on, or that identify the caller. */
const MAY_MATTER = /^(?:x-service-|x-vault-|if-)|^(?:authorization|range)$/;

/** Whether the answer to a request may come from the cache. The body is part of the key and must still be read. */
export const isCacheable = (method: string, { headers }: IncomingMessage): boolean => {
  if (method !== 'GET' && method !== 'POST') return false;
  for (const name in headers) if (MAY_MATTER.test(name)) return false;
  return method === 'GET'
    ? headers['content-length'] === undefined && headers['transfer-encoding'] === undefined
    : Number(headers['content-length']) <= LARGEST_REQUEST_BODY_BYTES;
};

/** A request target contains no space, so a key with a body never equals one without. */
export const answerKey = (url: string, method: string, { buffered }: EdgeBody): string =>
  method === 'GET' ? url : `${url} ${Buffer.from(buffered ?? []).toString('latin1')}`;
