/** Routes by which site administrators manage people and tokens. */
import type { Route } from '@keelson/edge';
import {
  choice,
  type Endpoint,
  endpoint,
  FLAG,
  type Includes,
  itemsOn,
  jsonApiRoutes,
  one,
  type ParamsOf,
  pageOf,
  parseInclude,
  parsePage,
  parseSort,
  type QueryParameters,
  resourceBody,
  sortedBy,
  toPaginatedDocument,
  type UnsupportedFields,
} from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { Type } from 'typebox';
import { findSitePolicy } from '../../base/retention/retention-records.ts';
import { TOKEN_OWNER_TYPES, type TokenOwnerType } from '../model/domain/token.ts';
import { toOrganizationResource } from '../organizations/organization-document.ts';
import { listOrganizations } from '../organizations/organization-operations.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { loadTokenResources } from '../tokens/token-resources.ts';
import { toManagedUserResource } from '../users/user-document.ts';
import { listAllTokens, TOKEN_SORTS } from './token-administration-operations.ts';
import {
  changeUser,
  createUser,
  disableSecondFactor,
  endUserSessions,
  eraseUser,
  listUsers,
  loadManagedUsers,
  type ManagedUser,
  removePasskeys,
  showUser,
  suspendUser,
} from './user-administration-operations.ts';

const shortText = Type.String({ maxLength: 255 });
const CREATE = resourceBody(
  'users',
  Type.Object({
    username: shortText,
    email: shortText,
    'is-site-admin': Type.Optional(Type.Boolean()),
    password: Type.Optional(shortText),
  }),
);
const UPDATE = resourceBody(
  'users',
  Type.Object({
    username: Type.Optional(shortText),
    email: Type.Optional(shortText),
    'is-site-admin': Type.Optional(Type.Boolean()),
    password: Type.Optional(shortText),
  }),
);
const NOT_OFFERED: UnsupportedFields = {
  'attributes/password':
    'users set their passwords themselves, by the link of an invitation or of POST /password-resets',
};

const INCLUDES: Includes = { organizations: ['organizations'] };
const ONE = '/admin/users/:user_id';
const idOf = (params: ParamsOf<typeof ONE>): string => params.user_id;
const shown = ({ user, organizations }: ManagedUser) => ({
  document: { data: toManagedUserResource(user, organizations) },
});

/** undefined where the filter is absent. */
const flagOf = (query: QueryParameters, name: string): boolean | undefined => {
  const value = query.one('filter', name);
  return value ? value === 'true' : undefined;
};

/** The named organizations of which the administrator is a member; others are hidden here as everywhere else. */
const loadOrganizations = async (
  context: IdentityContext,
  principal: Principal,
  users: readonly ManagedUser[],
) => {
  const named = new Set(users.flatMap(({ organizations }) => organizations));
  const own = await listOrganizations(context, principal, undefined);
  const sitePolicy = await findSitePolicy(context.store);
  return own
    .filter(({ organization }) => named.has(organization.name))
    .map((access) => toOrganizationResource(access, sitePolicy));
};

const listEndpoint = (context: IdentityContext): Endpoint =>
  endpoint({
    method: 'GET',
    path: '/admin/users',
    summary: 'List the users of the site (site administrators)',
    query: {
      q: { description: 'Part of the user name or mail address.' },
      'filter[admin]': { description: 'Whether the users are site administrators.', schema: FLAG },
      'filter[suspended]': { description: 'Whether the users are suspended.', schema: FLAG },
    },
    answers: pageOf('users', {
      includes: INCLUDES,
      meta: {
        'status-counts': Type.Object({
          total: Type.Integer({ description: 'All users.' }),
          suspended: Type.Integer(),
          admin: Type.Integer(),
        }),
      },
    }),
    handle: async ({ head, principal, query }) => {
      const include = parseInclude(query, INCLUDES);
      const page = parsePage(query);
      const { users, counts } = await listUsers(context, principal, {
        search: query.one('q') ?? '',
        isAdmin: flagOf(query, 'admin'),
        isSuspended: flagOf(query, 'suspended'),
      });
      const onPage = await loadManagedUsers(context, itemsOn(page, users));
      const data = onPage.map(({ user, organizations }) =>
        toManagedUserResource(user, organizations),
      );
      const included = include.has('organizations')
        ? await loadOrganizations(context, principal, onPage)
        : [];
      const meta = { 'status-counts': { ...counts } };
      const totalCount = users.length;
      return { document: toPaginatedDocument(head, { data, page, totalCount, meta, included }) };
    },
  });

const action = (
  context: IdentityContext,
  name: string,
  summary: string,
  act: (context: IdentityContext, principal: Principal, userId: string) => Promise<ManagedUser>,
): Endpoint =>
  endpoint({
    method: 'POST',
    path: `${ONE}/actions/${name}`,
    summary: `${summary} (site administrators)`,
    answers: one('users'),
    handle: async ({ principal, params }) => shown(await act(context, principal, idOf(params))),
  });

const tokensEndpoint = (context: IdentityContext): Endpoint =>
  endpoint({
    method: 'GET',
    path: '/admin/authentication-tokens',
    summary: 'List all tokens of the site, with their owners (site administrators)',
    query: {
      'filter[owner-type]': {
        description: 'Type of the owners.',
        schema: choice(TOKEN_OWNER_TYPES),
      },
      'filter[owner-id]': {
        description: 'Id of the owner: `user-…`, `team-…`, `org-…` or `apool-…`.',
      },
      'filter[expired]': { description: 'Whether the tokens have expired.', schema: FLAG },
      sort: sortedBy(TOKEN_SORTS),
    },
    answers: pageOf('authentication-tokens'),
    handle: async ({ head, principal, query }) => {
      const page = parsePage(query);
      const tokens = await listAllTokens(context, principal, {
        ownerType: (query.one('filter', 'owner-type') || undefined) as TokenOwnerType | undefined,
        ownerId: query.one('filter', 'owner-id') || undefined,
        hasExpired: flagOf(query, 'expired'),
        sort: parseSort(query, TOKEN_SORTS) ?? { by: 'created-at', isDescending: false },
      });
      const data = await loadTokenResources(context.store, itemsOn(page, tokens));
      return { document: toPaginatedDocument(head, { data, page, totalCount: tokens.length }) };
    },
  });

export const administrationRoutes = (context: IdentityContext): Route[] =>
  jsonApiRoutes('users', [
    listEndpoint(context),
    endpoint({
      method: 'POST',
      path: '/admin/users',
      summary: 'Create a user (site administrators)',
      answers: one('users'),
      body: { schema: CREATE, notOffered: NOT_OFFERED },
      success: 201,
      handle: async ({ principal, body }) => {
        const { username, email, 'is-site-admin': isSiteAdmin = false } = body.data.attributes;
        return shown(await createUser(context, principal, { username, email, isSiteAdmin }));
      },
    }),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show a user (site administrators)',
      answers: one('users'),
      handle: async ({ principal, params }) =>
        shown(await showUser(context, principal, idOf(params))),
    }),
    endpoint({
      method: 'PATCH',
      path: ONE,
      summary: 'Change name, mail address or rights of a user (site administrators)',
      answers: one('users'),
      body: { schema: UPDATE, notOffered: NOT_OFFERED },
      handle: async ({ principal, params, body }) => {
        const { username, email, 'is-site-admin': isSiteAdmin } = body.data.attributes;
        const change = {
          ...(username !== undefined && { username }),
          ...(email !== undefined && { email }),
          ...(isSiteAdmin !== undefined && { isSiteAdmin }),
        };
        return shown(await changeUser(context, principal, idOf(params), change));
      },
    }),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Delete a user with everything personal (site administrators)',
      success: 204,
      handle: async ({ principal, params }) => {
        await eraseUser(context, principal, idOf(params));
        return undefined;
      },
    }),
    action(context, 'suspend', 'Refuse every token of a user', (on, by, id) =>
      suspendUser(on, by, id, true),
    ),
    action(context, 'unsuspend', 'End the suspension of a user', (on, by, id) =>
      suspendUser(on, by, id, false),
    ),
    action(
      context,
      'end_sessions',
      'End every session of a user, and the links for a new password',
      endUserSessions,
    ),
    action(context, 'grant_admin', 'Make a user a site administrator', (on, by, id) =>
      changeUser(on, by, id, { isSiteAdmin: true }),
    ),
    action(context, 'revoke_admin', 'Take the rights of a site administrator', (on, by, id) =>
      changeUser(on, by, id, { isSiteAdmin: false }),
    ),
    action(
      context,
      'disable_two_factor',
      'Turn the two-factor authentication of a user off',
      disableSecondFactor,
    ),
    action(
      context,
      'remove_passkeys',
      'Remove all passkeys of a user, and end every session',
      removePasskeys,
    ),
    tokensEndpoint(context),
  ]);
