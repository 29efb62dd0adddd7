import type { Route } from '@keelson/edge';
import {
  choice,
  type Endpoint,
  endpoint,
  fixedType,
  itemsOn,
  jsonApiRoutes,
  nullable,
  one,
  type ParamsOf,
  pageOf,
  parsePage,
  parseSort,
  parseTimestampMs,
  type QueryParameters,
  type QuerySchema,
  refuseInvalid,
  resourceBody,
  sortedBy,
  toPaginatedDocument,
  withWarnings,
} from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import { notFound } from '../../base/not-found.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import type { TokenOwnerKind } from '../model/domain/token.ts';
import { findOrganizationByName } from '../model/organization-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { listTeamTokens, TEAM_TOKEN_SORTS, type TeamTokenQuery } from './team-token-listing.ts';
import { toTokenResource } from './token-document.ts';
import {
  createToken,
  deleteSingleToken,
  deleteToken,
  type FindTokenOwner,
  listTokensOf,
  requireSingleToken,
  requireToken,
  requireTokenOwner,
  type TokenRequest,
} from './token-operations.ts';
import { loadTokenResource, loadTokenResources } from './token-resources.ts';

// Deployed clients leave the type empty, or set it to the kind of token.
const CREATE = resourceBody(
  fixedType('authentication-tokens', 'authentication-token', 'agent-tokens', ''),
  Type.Object({
    description: Type.Optional(nullable(Type.String({ maxLength: 255 }))),
    'expired-at': Type.Optional(
      nullable(
        Type.String({
          maxLength: 40,
          description:
            'Absent: in two years, or earlier where an organization limits it, or never for the token of an agent pool. Null: never.',
        }),
      ),
    ),
  }),
);

const fromDocument = (document: Static<typeof CREATE> | undefined, nowMs: number): TokenRequest => {
  const given = document?.data.attributes;
  const description = given?.description ?? '';
  const expiredAt = given?.['expired-at'];
  if (expiredAt === undefined) return { description, expiresAtMs: undefined };
  const expiresAtMs = expiredAt ? parseTimestampMs(expiredAt) : null;
  if (expiresAtMs === undefined || (expiresAtMs !== null && expiresAtMs <= nowMs)) {
    refuseInvalid([attributeViolation('expired-at', 'expired-at must be a time in the future')]);
  }
  return { description, expiresAtMs: expiresAtMs ?? null };
};

/** How a route finds the owner, and the parameters of the query that this reads. */
interface OwnerAddress<Params> {
  readonly kind: TokenOwnerKind;
  /** The owner named by the path and query of a request. */
  readonly find: (params: Params, query: QueryParameters) => FindTokenOwner;
  readonly query?: QuerySchema;
}

/** The kinds of tokens of an organization, as clients name them. */
const ORGANIZATION_TOKENS: ReadonlyMap<string, 'organization' | 'audit-trail'> = new Map([
  ['', 'organization'],
  ['organization', 'organization'],
  ['audit-trails', 'audit-trail'],
]);

/** A request for an unknown kind matches no token. */
const ofOrganization: OwnerAddress<{ readonly organization_name: string }> = {
  kind: 'organization',
  query: {
    token: {
      description:
        'The kind of token: `organization`, the default, or `audit-trails`, which reads the audit trail and nothing else.',
    },
  },
  find: (params, query) => async (reads) => {
    const kind = ORGANIZATION_TOKENS.get(query.one('token') ?? '');
    if (kind === undefined) throw notFound('kind of token');
    const found = await findOrganizationByName(reads, params.organization_name);
    if (found === undefined) throw notFound('organization');
    return { kind, id: found.id };
  },
};

/** The owner whose id is a path parameter. */
export const ownerInPath = <Name extends string>(
  kind: TokenOwnerKind,
  parameter: Name,
): OwnerAddress<Readonly<Record<Name, string>>> => ({
  kind,
  find: (params) => async () => ({ kind, id: params[parameter] }),
});

const EXPIRY_STATUSES: Readonly<Record<string, boolean>> = { expired: true, active: false };

const parseTeamTokenQuery = (query: QueryParameters): TeamTokenQuery => ({
  teamNameContains: query.one('q') ?? '',
  hasExpired: EXPIRY_STATUSES[query.one('filter', 'expiry_status') ?? ''],
  sort: parseSort(query, TEAM_TOKEN_SORTS) ?? { by: 'team-name', isDescending: false },
});

const createTokenEndpoint = <const Path extends string>(
  context: IdentityContext,
  path: Path,
  summary: string,
  owner: OwnerAddress<ParamsOf<Path>>,
): Endpoint =>
  endpoint({
    method: 'POST',
    path,
    summary,
    ...(owner.query && { query: owner.query }),
    answers: one('authentication-tokens'),
    body: { schema: CREATE, optional: true },
    success: 201,
    handle: async ({ principal, params, query, body }) => {
      const given = fromDocument(body, context.clock.nowMs());
      const found = owner.find(params, query);
      const { token, text, warnings } = await createToken(context, principal, found, given);
      return { document: { data: toTokenResource(token, text), ...withWarnings(warnings) } };
    },
  });

const listTokensEndpoint = <const Path extends string>(
  context: IdentityContext,
  path: Path,
  summary: string,
  owner: OwnerAddress<ParamsOf<Path>>,
): Endpoint =>
  endpoint({
    method: 'GET',
    path,
    summary,
    ...(owner.query && { query: owner.query }),
    answers: pageOf('authentication-tokens'),
    handle: async ({ head, principal, params, query }) => {
      const { store } = context;
      const find = owner.find(params, query);
      const found = await requireTokenOwner(context, store, principal, find);
      const tokens = await listTokensOf(store, found);
      const page = parsePage(query);
      const data = await loadTokenResources(store, itemsOn(page, tokens));
      return { document: toPaginatedDocument(head, { data, page, totalCount: tokens.length }) };
    },
  });

/** Routes to create and list the tokens of one kind of owner, under one path. */
export const ownedTokenEndpoints = <const Path extends string>(
  context: IdentityContext,
  path: Path,
  summaries: { readonly create: string; readonly list: string },
  owner: OwnerAddress<ParamsOf<Path>>,
): readonly Endpoint[] => [
  createTokenEndpoint(context, path, summaries.create, owner),
  listTokensEndpoint(context, path, summaries.list, owner),
];

/** Routes of the single token of a team or organization, under its own path. */
const singleTokenEndpoints = <const Path extends string>(
  context: IdentityContext,
  path: Path,
  ownerName: string,
  owner: OwnerAddress<ParamsOf<Path>>,
): readonly Endpoint[] => [
  createTokenEndpoint(
    context,
    path,
    `Create the token of ${ownerName}, replacing the previous one`,
    owner,
  ),
  endpoint({
    method: 'GET',
    path,
    summary: `Show the token of ${ownerName}`,
    ...(owner.query && { query: owner.query }),
    answers: one('authentication-tokens'),
    handle: async ({ principal, params, query }) => {
      const token = await requireSingleToken(context, principal, owner.find(params, query));
      return { document: { data: await loadTokenResource(context.store, token) } };
    },
  }),
  endpoint({
    method: 'DELETE',
    path,
    summary: `Delete the token of ${ownerName}`,
    ...(owner.query && { query: owner.query }),
    success: 204,
    handle: async ({ principal, params, query }) => {
      await deleteSingleToken(context, principal, owner.find(params, query));
      return undefined;
    },
  }),
];

const ONE = '/authentication-tokens/:token_id';

export const tokenRoutes = (context: IdentityContext): Route[] => {
  const ofTeam = ownerInPath('team', 'team_id');
  return jsonApiRoutes('tokens', [
    ...ownedTokenEndpoints(
      context,
      '/users/:user_id/authentication-tokens',
      { create: 'Create a token of a user', list: 'List the tokens of a user' },
      ownerInPath('user', 'user_id'),
    ),
    ...ownedTokenEndpoints(
      context,
      '/teams/:team_id/authentication-tokens',
      { create: 'Create a further token of a team', list: 'List the tokens of a team' },
      ofTeam,
    ),
    endpoint({
      method: 'GET',
      path: '/organizations/:organization_name/team-tokens',
      summary: 'List the tokens of teams that the caller may manage',
      query: {
        q: { description: 'Part of the name of the team.' },
        'filter[expiry_status]': {
          description: 'Whether the tokens have expired.',
          schema: choice(Object.keys(EXPIRY_STATUSES)),
        },
        sort: sortedBy(TEAM_TOKEN_SORTS),
      },
      answers: pageOf('authentication-tokens'),
      handle: async ({ head, principal, params, query }) => {
        const name = params.organization_name;
        const all = await listTeamTokens(context, principal, name, parseTeamTokenQuery(query));
        const page = parsePage(query);
        const data = await loadTokenResources(context.store, itemsOn(page, all));
        return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
      },
    }),
    ...singleTokenEndpoints(context, '/teams/:team_id/authentication-token', 'a team', ofTeam),
    ...singleTokenEndpoints(
      context,
      '/organizations/:organization_name/authentication-token',
      'an organization',
      ofOrganization,
    ),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show a token, without its text',
      answers: one('authentication-tokens'),
      handle: async ({ principal, params }) => {
        const id = params.token_id;
        const token = await requireToken(context, context.store, principal, id);
        return { document: { data: await loadTokenResource(context.store, token) } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Delete a token',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteToken(context, principal, params.token_id);
        return undefined;
      },
    }),
  ]);
};
