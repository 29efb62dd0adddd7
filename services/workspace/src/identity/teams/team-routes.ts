import type { Route } from '@keelson/edge';
import {
  type CheckTexts,
  type Endpoint,
  endpoint,
  type Includes,
  itemsOn,
  jsonApiRoutes,
  nullable,
  one,
  pageOf,
  parseInclude,
  parsePage,
  type Resource,
  resourceBody,
  resourceListBody,
  TEXTS,
  toPaginatedDocument,
  type UnsupportedFields,
} from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import { type Static, Type } from 'typebox';
import { IncludedResources } from '../../base/included-resources.ts';
import { MATCHING_COUNTS } from '../../base/matching-counts.ts';
import { notFound } from '../../base/not-found.ts';
import { toCamelKeys, toKebabKeys } from '../../base/validation/attribute-names.ts';
import { requireTeam, type TeamAccessResult } from '../access/team-access.ts';
import { ORGANIZATION_ACCESS_FLAGS } from '../model/domain/organization-access.ts';
import { userRecords } from '../model/user-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { toUserResource } from '../users/user-document.ts';
import { toMembershipResource } from './membership-document.ts';
import { listTeamMemberships } from './membership-list-operations.ts';
import {
  addTeamMembers,
  byMembership,
  byUserName,
  findMemberIds,
  removeTeamMembers,
} from './membership-operations.ts';
import { toTeamResource } from './team-document.ts';
import {
  checkTeam,
  createTeam,
  deleteTeam,
  listTeams,
  type TeamInput,
  updateTeam,
} from './team-operations.ts';

const flagNames = Object.keys(
  toKebabKeys(Object.fromEntries(ORGANIZATION_ACCESS_FLAGS.map((flag) => [flag, true]))),
);

const attributes = {
  visibility: Type.Optional(Type.Union([Type.Literal('secret'), Type.Literal('organization')])),
  'sso-team-id': Type.Optional(
    nullable(
      Type.String({
        maxLength: 255,
        description: 'The group of the provider of identities whose people are the members.',
      }),
    ),
  ),
  'allow-member-token-management': Type.Optional(Type.Boolean()),
  'organization-access': Type.Optional(
    Type.Object(Object.fromEntries(flagNames.map((name) => [name, Type.Optional(Type.Boolean())]))),
  ),
};

const NO_POLICIES = 'there are no policies';
const NO_REGISTRY = 'there is no private registry';
const WITHOUT_EFFECT: UnsupportedFields = {
  'attributes/organization-access/delegate-policy-overrides': NO_POLICIES,
  'attributes/organization-access/manage-modules': NO_REGISTRY,
  'attributes/organization-access/manage-policies': NO_POLICIES,
  'attributes/organization-access/manage-policy-overrides': NO_POLICIES,
  'attributes/organization-access/manage-providers': NO_REGISTRY,
  'attributes/organization-access/manage-run-tasks': 'there are no run tasks',
};

/** The operation checks form and length, so that its error can describe the rule. */
const name = Type.String();
const CREATE = resourceBody('teams', Type.Object({ ...attributes, name }));
const UPDATE_ATTRIBUTES = Type.Object({ ...attributes, name: Type.Optional(name) });
const UPDATE = resourceBody('teams', UPDATE_ATTRIBUTES);
const MEMBERS = resourceListBody(
  Type.Object({ type: Type.Literal('users'), id: Type.String({ maxLength: 255 }) }),
);

const MEMBERSHIPS = resourceListBody(
  Type.Object({
    type: Type.Literal('organization-memberships'),
    id: Type.String({ maxLength: 64 }),
  }),
);

/** Validation errors of the texts in a request, reported together with its other errors. */
const checkTexts: CheckTexts = ({ name }) => (name === undefined ? [] : checkTeam({ name }));

const INCLUDES: Includes = {
  users: ['users'],
  organization_memberships: ['organization-memberships'],
};

const loadIncluded = async (
  reads: Reads,
  include: ReadonlySet<string>,
  teams: readonly TeamAccessResult[],
): Promise<readonly Resource[]> => {
  const included = new IncludedResources();
  const loadUser = async (id: string): Promise<Resource | undefined> => {
    const user = await userRecords.find(reads, id);
    return user && toUserResource(user);
  };
  for (const access of teams) {
    if (include.has('users')) await included.addEach(findMemberIds(reads, access.team), loadUser);
    if (include.has('organization_memberships')) {
      const memberships = listTeamMemberships(reads, access);
      await included.add(memberships.then((views) => views?.map(toMembershipResource)));
    }
  }
  return included.all;
};

const fromAttributes = (given: Static<typeof UPDATE_ATTRIBUTES>): TeamInput => {
  const { 'organization-access': access, ...plain } = given;
  return {
    ...toCamelKeys(plain),
    ...(access === undefined ? {} : { organizationAccess: toCamelKeys(access) }),
  };
};

const ONE = '/teams/:team_id';
const MEMBERSHIPS_OF = `${ONE}/relationships/organization-memberships`;
const COLLECTION = '/organizations/:organization_name/teams';

const answer = async ({ store }: IdentityContext, access: TeamAccessResult) => ({
  document: { data: await toTeamResource(store, access) },
});

const teamEndpoints = (context: IdentityContext): Endpoint[] => [
  endpoint({
    method: 'POST',
    path: COLLECTION,
    summary: 'Create a team',
    answers: one('teams'),
    body: { schema: CREATE, check: checkTexts, withoutEffect: WITHOUT_EFFECT },
    success: 201,
    handle: async ({ principal, params, body }) =>
      answer(
        context,
        await createTeam(context, principal, params.organization_name, {
          ...fromAttributes(body.data.attributes),
          name: body.data.attributes.name,
        }),
      ),
  }),
  endpoint({
    method: 'GET',
    path: COLLECTION,
    summary: 'List teams',
    query: {
      q: { description: 'Part of the name.' },
      'filter[names]': { description: 'Names.', schema: TEXTS },
    },
    answers: pageOf('teams', { includes: INCLUDES, meta: MATCHING_COUNTS }),
    handle: async ({ head, principal, params, query }) => {
      const filter = { names: query.list('filter', 'names'), search: query.one('q') };
      const { teams, visibleCount } = await listTeams(
        context,
        principal,
        params.organization_name,
        filter,
      );
      const include = parseInclude(query, INCLUDES);
      const page = parsePage(query);
      const shown = itemsOn(page, teams);
      const data = await Promise.all(shown.map((access) => toTeamResource(context.store, access)));
      const meta = { 'status-counts': { total: visibleCount, matching: teams.length } };
      const totalCount = teams.length;
      const document = toPaginatedDocument(head, { data, page, totalCount, meta });
      if (include.size === 0) return { document };
      return {
        document: { ...document, included: await loadIncluded(context.store, include, shown) },
      };
    },
  }),
  endpoint({
    method: 'GET',
    path: ONE,
    summary: 'Show a team',
    answers: one('teams', { includes: INCLUDES }),
    handle: async ({ principal, params, query }) => {
      const include = parseInclude(query, INCLUDES);
      const access = await requireTeam(context.store, principal, params.team_id);
      const { document } = await answer(context, access);
      if (include.size === 0) return { document };
      const included = await loadIncluded(context.store, include, [access]);
      return { document: { ...document, included } };
    },
  }),
  endpoint({
    method: 'PATCH',
    path: ONE,
    summary: 'Update a team',
    answers: one('teams'),
    body: { schema: UPDATE, check: checkTexts, withoutEffect: WITHOUT_EFFECT },
    handle: async ({ principal, params, body }) =>
      answer(
        context,
        await updateTeam(context, principal, params.team_id, fromAttributes(body.data.attributes)),
      ),
  }),
  endpoint({
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a team',
    success: 204,
    handle: async ({ principal, params }) => {
      await deleteTeam(context, principal, params.team_id);
      return undefined;
    },
  }),
];

const memberEndpoints = (context: IdentityContext): Endpoint[] => [
  endpoint({
    method: 'POST',
    path: `${ONE}/relationships/users`,
    summary: 'Add users to a team, by name or id',
    body: { schema: MEMBERS },
    success: 204,
    handle: async ({ principal, params, body }) => {
      const users = byUserName(body.data.map(({ id }) => id));
      await addTeamMembers(context, principal, params.team_id, users);
      return undefined;
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${ONE}/relationships/users`,
    summary: 'Remove users from a team, by name or id',
    body: { schema: MEMBERS },
    success: 204,
    handle: async ({ principal, params, body }) => {
      const users = byUserName(body.data.map(({ id }) => id));
      await removeTeamMembers(context, principal, params.team_id, users);
      return undefined;
    },
  }),
  endpoint({
    method: 'GET',
    path: MEMBERSHIPS_OF,
    summary: 'List the organization memberships on a team, for who manages them',
    answers: pageOf('organization-memberships'),
    handle: async ({ head, principal, params, query }) => {
      const access = await requireTeam(context.store, principal, params.team_id);
      const all = await listTeamMemberships(context.store, access);
      if (all === undefined) throw notFound('team');
      const page = parsePage(query);
      const data = itemsOn(page, all).map(toMembershipResource);
      return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
    },
  }),
  endpoint({
    method: 'POST',
    path: MEMBERSHIPS_OF,
    summary: 'Add members of the organization to a team',
    body: { schema: MEMBERSHIPS },
    success: 204,
    handle: async ({ principal, params, body }) => {
      const members = byMembership(body.data.map(({ id }) => id));
      await addTeamMembers(context, principal, params.team_id, members);
      return undefined;
    },
  }),
  endpoint({
    method: 'DELETE',
    path: MEMBERSHIPS_OF,
    summary: 'Remove members of the organization from a team',
    body: { schema: MEMBERSHIPS },
    success: 204,
    handle: async ({ principal, params, body }) => {
      const members = byMembership(body.data.map(({ id }) => id));
      await removeTeamMembers(context, principal, params.team_id, members);
      return undefined;
    },
  }),
];

export const teamRoutes = (context: IdentityContext): Route[] =>
  jsonApiRoutes('teams', [...teamEndpoints(context), ...memberEndpoints(context)]);
