/** `auth/token/own`: where somebody is signed in, and the end of that. */
import type { Route } from '@keelson/edge';
import { field, secretsRoutes } from '@keelson/secrets-api';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import type { TokenContext } from '../tokens/token-context.ts';
import { requireOwn } from '../tokens/token-routes.ts';
import { ownTokensDocument } from './own-token-document.ts';
import { endOtherTokens, endOwnToken, listOwnTokens } from './own-token-operations.ts';

const TAG = 'tokens';
const BASE = '/auth/token/own';
const MAX_PAGE = 1000;

export const ownTokenRoutes = (
  tokens: TokenContext,
  mounts: () => Promise<MountIndex>,
): Route[] => [
  ...secretsRoutes({
    path: BASE,
    tag: TAG,
    fields: {
      before: field.time({
        description: 'Only tokens that were created before this time: `next` of the page before.',
      }),
      limit: field.integer({
        description:
          'Number of tokens of a page, at most 1000; those of the same millisecond are on one page.',
        default: 100,
        check: (limit) =>
          limit >= 1 && limit <= MAX_PAGE ? undefined : `limit is a number from 1 to ${MAX_PAGE}`,
      }),
    },
    operations: {
      read: {
        summary: 'List the service tokens of the entity of the token, the latest first',
        handle: async (exchange) => {
          const { before, limit } = exchange.fields;
          const own = await requireOwn(tokens, exchange);
          const page = { beforeMs: before?.epochMs, limit };
          return { data: ownTokensDocument(await listOwnTokens({ ...tokens, mounts }, own, page)) };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/revoke`,
    tag: TAG,
    fields: { accessor: field.string({ description: 'Accessor of the token.', default: '' }) },
    operations: {
      update: {
        summary: 'Revoke a token of the entity of the token, with those that were made by it',
        handle: async (exchange) => {
          const own = await requireOwn(tokens, exchange);
          await endOwnToken(tokens, own, exchange.fields.accessor);
          return undefined;
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/revoke-others`,
    tag: TAG,
    fields: {},
    operations: {
      update: {
        summary:
          'Revoke all tokens of the entity of the token except that of the request and those by which it was made',
        handle: async (exchange) => {
          const { ended, kept } = await endOtherTokens(tokens, await requireOwn(tokens, exchange));
          if (kept > 0)
            exchange.warnings.push(
              `${kept} ${kept === 1 ? 'token stays' : 'tokens stay'}: the token of this request was made by ${kept === 1 ? 'it' : 'them'}, and would end with ${kept === 1 ? 'it' : 'them'}`,
            );
          return { data: { revoked: ended } };
        },
      },
    },
  }),
];
