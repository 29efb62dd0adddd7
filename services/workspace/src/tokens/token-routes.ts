import type { Route } from '@keelson/edge';
import {
  type Endpoint,
  endpoint,
  itemsOn,
  jsonApiRoutes,
  nullable,
  parsePage,
  parseSort,
  parseTimestampMs,
  type QueryParameters,
  type Resource,
  refuseInvalid,
  resourceBody,
  toOne,
  toPaginatedDocument,
  toTimestamp,
} from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import { notFound } from '../access/access-operations.ts';
import type { ServiceContext } from '../service-context.ts';
import { attributeViolation } from '../validation/domain/violation.ts';
import type { ApiToken } from './domain/token.ts';
import { listTeamTokens, TEAM_TOKEN_SORTS, type TeamTokenQuery } from './team-token-listing.ts';
import {
  createToken,
  deleteSingleToken,
  deleteToken,
  type GivenToken,
  listTokensOf,
  requireSingleToken,
  requireToken,
  requireTokenOwner,
  type TokenOwnerAddress,
} from './token-operations.ts';

// Deployed clients leave the type empty, or name it after the kind of token.
const CREATE = resourceBody(
  ['authentication-tokens', 'authentication-token', 'agent-tokens', ''],
  Type.Object({
    description: Type.Optional(nullable(Type.String({ maxLength: 255 }))),
    'expired-at': Type.Optional(nullable(Type.String({ maxLength: 40 }))),
  }),
);

const toTokenResource = (token: ApiToken, text: string | null): Resource => ({
  id: token.id,
  type: 'authentication-tokens',
  attributes: {
    description: token.description,
    'created-at': toTimestamp(token.createdAtMs),
    'last-used-at': null,
    'expired-at': token.expiresAtMs === null ? null : toTimestamp(token.expiresAtMs),
    // Shown once, when it is made.
    token: text,
  },
  relationships: {
    'created-by': toOne('users', token.createdById),
    ...(token.ownerKind === 'team' ? { team: toOne('teams', token.ownerId) } : {}),
  },
});

const fromDocument = (document: Static<typeof CREATE> | undefined, nowMs: number): GivenToken => {
  const given = document?.data.attributes;
  const expiredAt = given?.['expired-at'];
  const expiresAtMs = expiredAt ? parseTimestampMs(expiredAt) : null;
  if (expiresAtMs === undefined || (expiresAtMs !== null && expiresAtMs <= nowMs)) {
    refuseInvalid([attributeViolation('expired-at', 'expired-at must be a time in the future')]);
  }
  return { description: given?.description ?? '', expiresAtMs: expiresAtMs ?? null };
};

type Params = Readonly<Record<string, string>>;
type ToAddress = (params: Params, query: QueryParameters) => TokenOwnerAddress;

/** Tokens of another kind than the organization's are not offered, and never mean it. */
const ofOrganization: ToAddress = (params, query) => {
  if ((query.one('token') || 'organization') !== 'organization') throw notFound('kind of token');
  return { organizationName: params['organization_name'] ?? '' };
};

const EXPIRY_STATUSES: Readonly<Record<string, boolean>> = { expired: true, active: false };

const parseTeamTokenQuery = (query: QueryParameters): TeamTokenQuery => {
  return {
    teamNameContains: query.one('q') ?? '',
    hasExpired: EXPIRY_STATUSES[query.one('filter', 'expiry_status') ?? ''],
    sort: parseSort(query, TEAM_TOKEN_SORTS) ?? { by: 'team-name', isDescending: false },
  };
};

export const tokenRoutes = (context: ServiceContext): Route[] => {
  const { store, clock } = context;

  const create = (path: string, summary: string, toAddress: ToAddress): Endpoint =>
    endpoint({
      method: 'POST',
      path,
      summary,
      body: { schema: CREATE, optional: true },
      success: 201,
      handle: async ({ principal, params, query, body }) => {
        const given = fromDocument(body, clock.nowMs());
        const address = toAddress(params, query);
        const { token, text } = await createToken(context, principal, address, given);
        return { document: { data: toTokenResource(token, text) } };
      },
    });

  const list = (path: string, summary: string, toAddress: ToAddress): Endpoint =>
    endpoint({
      method: 'GET',
      path,
      summary,
      handle: async ({ head, principal, params, query }) => {
        const owner = await requireTokenOwner(store, principal, toAddress(params, query));
        const tokens = await listTokensOf(store, owner.id);
        const page = parsePage(query);
        const data = itemsOn(page, tokens).map((token) => toTokenResource(token, null));
        return { document: toPaginatedDocument(head, { data, page, totalCount: tokens.length }) };
      },
    });

  /** The one token of a team or organization, under its own path. */
  const single = (path: string, owner: string, toAddress: ToAddress): readonly Endpoint[] => [
    create(path, `Create the token of ${owner}, in place of the one before`, toAddress),
    endpoint({
      method: 'GET',
      path,
      summary: `Show the token of ${owner}`,
      handle: async ({ principal, params, query }) => {
        const token = await requireSingleToken(store, principal, toAddress(params, query));
        return { document: { data: toTokenResource(token, null) } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path,
      summary: `Delete the token of ${owner}`,
      success: 204,
      handle: async ({ principal, params, query }) => {
        await deleteSingleToken(context, principal, toAddress(params, query));
        return undefined;
      },
    }),
  ];

  const ofUser = (params: Params) => ({ userId: params['user_id'] ?? '' });
  const ofTeam = (params: Params) => ({ teamId: params['team_id'] ?? '' });
  const ofPool = (params: Params) => ({ agentPoolId: params['agent_pool_id'] ?? '' });
  const USER_TOKENS = '/users/:user_id/authentication-tokens';
  const POOL_TOKENS = '/agent-pools/:agent_pool_id/authentication-tokens';
  const TEAM_TOKENS = '/teams/:team_id/authentication-tokens';

  return jsonApiRoutes('tokens', [
    create(USER_TOKENS, 'Create a token of a user', ofUser),
    list(USER_TOKENS, 'List the tokens of a user', ofUser),
    create(TEAM_TOKENS, 'Create a further token of a team', ofTeam),
    list(TEAM_TOKENS, 'List the tokens of a team', ofTeam),
    create(POOL_TOKENS, 'Create a token for the agents of a pool', ofPool),
    list(POOL_TOKENS, 'List the tokens of an agent pool', ofPool),
    endpoint({
      method: 'GET',
      path: '/organizations/:organization_name/team-tokens',
      summary: 'List the tokens of teams that the caller may manage',
      handle: async ({ head, principal, params, query }) => {
        const name = params['organization_name'] ?? '';
        const all = await listTeamTokens(context, principal, name, parseTeamTokenQuery(query));
        const page = parsePage(query);
        const data = itemsOn(page, all).map((token) => toTokenResource(token, null));
        return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
      },
    }),
    ...single('/teams/:team_id/authentication-token', 'a team', ofTeam),
    ...single(
      '/organizations/:organization_name/authentication-token',
      'an organization',
      ofOrganization,
    ),
    endpoint({
      method: 'GET',
      path: '/authentication-tokens/:token_id',
      summary: 'Show a token, without its text',
      handle: async ({ principal, params }) => {
        const token = await requireToken(store, principal, params['token_id'] ?? '');
        return { document: { data: toTokenResource(token, null) } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/authentication-tokens/:token_id',
      summary: 'Delete a token',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteToken(context, principal, params['token_id'] ?? '');
        return undefined;
      },
    }),
  ]);
};
