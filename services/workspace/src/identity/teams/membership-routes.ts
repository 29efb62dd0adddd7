import type { Route } from '@keelson/edge';
import {
  choice,
  endpoint,
  itemsOn,
  jsonApiRoutes,
  many,
  one,
  pageOf,
  parseInclude,
  parsePage,
  resourceBody,
  TEXTS,
  toPaginatedDocument,
  withWarnings,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { IdentityContext } from '../seams/identity-context.ts';
import { inviteMember } from './invitation-operations.ts';
import { toMembershipResource } from './membership-document.ts';
import { loadMembershipIncluded, MEMBERSHIP_INCLUDES } from './membership-includes.ts';
import {
  deleteMembership,
  listMemberships,
  listOwnMemberships,
  MEMBERSHIP_STATUSES,
  requireMembership,
} from './membership-list-operations.ts';

const INVITE = resourceBody(
  'organization-memberships',
  Type.Object({ email: Type.String({ maxLength: 255 }) }),
  Type.Object({
    teams: Type.Optional(
      Type.Object({
        data: Type.Array(
          Type.Object({ type: Type.Literal('teams'), id: Type.String({ maxLength: 64 }) }),
          { maxItems: 100 },
        ),
      }),
    ),
  }),
);

const COLLECTION = '/organizations/:organization_name/organization-memberships';
const ONE = '/organization-memberships/:membership_id';

export const organizationMembershipRoutes = (context: IdentityContext): Route[] =>
  jsonApiRoutes('organization memberships', [
    endpoint({
      method: 'POST',
      path: COLLECTION,
      summary: 'Make the user of an email address a member, or invite the address',
      answers: one('organization-memberships', { alwaysIncluded: ['users'] }),
      body: { schema: INVITE },
      success: 201,
      handle: async ({ principal, params, body }) => {
        const { attributes, relationships } = body.data;
        const { view, warnings } = await inviteMember(
          context,
          principal,
          params.organization_name,
          {
            email: attributes.email,
            teamIds: relationships?.teams?.data.map(({ id }) => id) ?? [],
          },
        );
        const user = new Set(['user']);
        const included = await loadMembershipIncluded(context.store, principal, user, [view]);
        const data = toMembershipResource(view);
        return { document: { data, included, ...withWarnings(warnings) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: COLLECTION,
      summary: 'List the members of an organization',
      query: {
        q: { description: 'Part of the user name or mail address.' },
        'filter[email]': { description: 'Mail addresses.', schema: TEXTS },
        'filter[status]': {
          description: 'Statuses of the memberships.',
          schema: Type.Array(choice(MEMBERSHIP_STATUSES)),
        },
      },
      answers: pageOf('organization-memberships', { includes: MEMBERSHIP_INCLUDES }),
      handle: async ({ head, principal, params, query }) => {
        const all = await listMemberships(context, principal, params.organization_name, {
          search: query.one('q'),
          emails: query.list('filter', 'email'),
          statuses: query.list('filter', 'status'),
        });
        const include = parseInclude(query, MEMBERSHIP_INCLUDES);
        const page = parsePage(query);
        const shown = itemsOn(page, all);
        const included = await loadMembershipIncluded(context.store, principal, include, shown);
        const data = shown.map(toMembershipResource);
        const totalCount = all.length;
        return { document: toPaginatedDocument(head, { data, page, totalCount, included }) };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/organization-memberships',
      summary: "List the caller's own memberships",
      answers: many('organization-memberships', { includes: MEMBERSHIP_INCLUDES }),
      handle: async ({ principal, query }) => {
        const include = parseInclude(query, MEMBERSHIP_INCLUDES);
        const own = await listOwnMemberships(context, principal);
        const included = await loadMembershipIncluded(context.store, principal, include, own);
        const data = own.map(toMembershipResource);
        return { document: { data, ...(included.length === 0 ? {} : { included }) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show a membership',
      answers: one('organization-memberships', { includes: MEMBERSHIP_INCLUDES }),
      handle: async ({ principal, params, query }) => {
        const include = parseInclude(query, MEMBERSHIP_INCLUDES);
        const id = params.membership_id;
        const view = await requireMembership(context.store, principal, id, 'canRead');
        const included = await loadMembershipIncluded(context.store, principal, include, [view]);
        const data = toMembershipResource(view);
        return { document: { data, ...(included.length === 0 ? {} : { included }) } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Remove a member from the organization',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteMembership(context, principal, params.membership_id);
        return undefined;
      },
    }),
  ]);
