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

/** Of a generation of keys; some 5 MB in all. */
const MAX_ASKED = 16_384;

/** Keys that were asked for lately, in two generations: the older is dropped when the younger is full. */
class AskedLately {
  #young = new Set<string>();
  #old = new Set<string>();

  /** Whether it was asked for before; from now on it was. */
  ask(key: string): boolean {
    const isKnown = this.#young.has(key) || this.#old.has(key);
    if (this.#young.size >= MAX_ASKED) {
      this.#old = this.#young;
      this.#young = new Set();
    }
    this.#young.add(key);
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
