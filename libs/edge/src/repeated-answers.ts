/**
 * Answers to known callers, given again while the service says that they stand (docs/decisions/0073 has
 * the same for requests without credentials). Who asks is resolved anew for each request before it comes
 * here, and whatever it was resolved to is part of the key.
 */
import type { Principal, RequestHead } from '@keelson/proto/edge/v1/edge';
import type { EdgeService } from './edge-service.ts';
import { RememberedAnswers, type StandingResponse } from './remembered-answers.ts';

/** Headers that no answer which may stand depends on; with any other one a request is served anew. */
const NEVER_MATTER: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-type',
  'content-encoding',
  'user-agent',
  'terraform-version',
  'x-terraform-integration',
]);

/** What an answer takes besides its key and its content, the reads of the service included; measured. */
const OVERHEAD_BYTES = 1750;

/** Of a generation of keys; less than a megabyte in all. */
const MAX_ASKED = 16_384;

/** FNV-1a over the characters, as 30 bits: a number that takes no memory beside its place in a set. */
const digestOf = (key: string): number => {
  let digest = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1)
    digest = Math.imul(digest ^ key.charCodeAt(at), 0x01000193);
  return digest >>> 2;
};

/**
 * Digests of keys that were asked for lately, in two generations: the older is dropped when the younger is
 * full. Where two keys have the same one, an answer is kept that was asked for once.
 */
class AskedLately {
  #young = new Set<number>();
  #old = new Set<number>();

  /** Whether it was asked for before; from now on it was. */
  ask(key: string): boolean {
    const digest = digestOf(key);
    const isKnown = this.#young.has(digest) || this.#old.has(digest);
    if (this.#young.size >= MAX_ASKED) {
      this.#old = this.#young;
      this.#young = new Set();
    }
    this.#young.add(digest);
    return isKnown;
  }
}

/** No part holds a line end: targets cannot, and names are checked when they are made. */
const keyOf = ({ path, query }: RequestHead, principal: Principal): string => {
  const { kind, id, organization, tokenId, displayName, siteAdmin } = principal;
  return `${path}?${query}\n${kind}\n${id}\n${organization}\n${tokenId}\n${displayName}\n${siteAdmin}`;
};

const isRepeatable = ({ method, headers }: RequestHead): boolean => {
  if (method !== 'GET') return false;
  for (const name in headers) if (!NEVER_MATTER.has(name)) return false;
  return true;
};

export interface RepeatingService extends EdgeService {
  /** Forgets every answer. */
  forget(): void;
}

/**
 * The service; what it answers with `stands` to a GET is given to the same caller again while it stands,
 * from the second time on: most answers are asked for once, and keeping one costs as much as making it.
 */
export const repeatAnswers = (service: EdgeService): RepeatingService => {
  const answers = new RememberedAnswers<{ readonly response: StandingResponse }>(OVERHEAD_BYTES);
  const asked = new AskedLately();
  return {
    describe: () => service.describe(),
    check: () => service.check(),
    forget: () => answers.clear(),
    handle: async (request) => {
      const { head } = request;
      const { principal } = head;
      if (principal === undefined || !isRepeatable(head)) return service.handle(request);
      const key = keyOf(head, principal);
      const known = answers.find(key);
      if (known !== undefined) {
        if (await known.response.stands()) return known.response;
        answers.delete(key);
      }
      const response = await service.handle(request);
      const { stands } = response;
      if (stands !== undefined && asked.ask(key))
        answers.put(key, { response: { ...response, stands } });
      return response;
    },
  };
};
