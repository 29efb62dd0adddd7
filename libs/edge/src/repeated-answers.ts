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

/** The service; what it answers with `stands` to a GET is made once for each caller while it stands. */
export const repeatAnswers = (service: EdgeService): EdgeService => {
  const answers = new RememberedAnswers<{ readonly response: StandingResponse }>(OVERHEAD_BYTES);
  return {
    describe: () => service.describe(),
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
      if (stands !== undefined) answers.put(key, { response: { ...response, stands } });
      return response;
    },
  };
};
