import type { Route } from '@keelson/edge';
import {
  API_PREFIX,
  endpoint,
  invalidAttribute,
  itemsOn,
  jsonApiRoutes,
  parsePage,
  type Resource,
  resourceBody,
  toOne,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import type { ServiceContext } from '../service-context.ts';
import { toCamelKeys, toKebabKeys } from '../validation/attribute-names.ts';
import {
  LEAST_CUSTOM_PROJECT_GRANT,
  PROJECT_ACCESS_LEVELS,
  toProjectGrant,
} from './domain/team-grants.ts';
import { MOCKS_RIGHTS, STATE_RIGHTS, VARIABLES_RIGHTS } from './domain/workspace-rights.ts';
import {
  createGrant,
  deleteGrant,
  listGrants,
  PROJECT_GRANTS,
  requireGrant,
  updateGrant,
} from './grant-operations.ts';
import type { TeamProjectGrant } from './grant-records.ts';

const oneOf = <T extends string>(values: readonly T[]) =>
  Type.Union(values.map((value) => Type.Literal(value)));
const flag = Type.Optional(Type.Boolean());

const custom = {
  'project-access': Type.Optional(
    Type.Object({
      settings: Type.Optional(oneOf(['read', 'update', 'delete'])),
      teams: Type.Optional(oneOf(['none', 'read', 'manage'])),
      'variable-sets': Type.Optional(oneOf(['none', 'read', 'write'])),
    }),
  ),
  'workspace-access': Type.Optional(
    Type.Object({
      runs: Type.Optional(oneOf(['read', 'plan', 'apply'])),
      'sentinel-mocks': Type.Optional(oneOf(MOCKS_RIGHTS)),
      'state-versions': Type.Optional(oneOf(STATE_RIGHTS)),
      variables: Type.Optional(oneOf(VARIABLES_RIGHTS)),
      create: flag,
      locking: flag,
      delete: flag,
      move: flag,
      'run-tasks': flag,
    }),
  ),
};

const access = oneOf(PROJECT_ACCESS_LEVELS);
const reference = (type: string) =>
  Type.Object({
    data: Type.Object({ type: Type.Literal(type), id: Type.String({ maxLength: 64 }) }),
  });

const CREATE = resourceBody(
  'team-projects',
  Type.Object({ access, ...custom }),
  Type.Object({ team: reference('teams'), project: reference('projects') }),
);
const UPDATE_ATTRIBUTES = Type.Object({ access: Type.Optional(access), ...custom });
const UPDATE = resourceBody('team-projects', UPDATE_ATTRIBUTES);

/** Single rights may be set with the custom level only. */
const changeGrant = (
  current: TeamProjectGrant,
  given: Static<typeof UPDATE_ATTRIBUTES>,
): TeamProjectGrant => {
  const level = given.access ?? current.access;
  const { 'project-access': onProject = {}, 'workspace-access': onWorkspaces = {} } = given;
  const singles = { 'project-access': onProject, 'workspace-access': onWorkspaces };
  const set = Object.entries(singles).find(([, rights]) => Object.keys(rights).length > 0);
  if (level !== 'custom' && set !== undefined) {
    throw invalidAttribute(
      `/data/attributes/${set[0]}`,
      `${set[0]} is read-only when access level is '${level}'; use the 'custom' access level to set this attribute.`,
    );
  }
  const { projectAccess, workspaceAccess } = current.custom;
  return {
    ...current,
    access: level,
    custom: {
      projectAccess: { ...projectAccess, ...toCamelKeys(onProject) },
      workspaceAccess: { ...workspaceAccess, ...toCamelKeys(onWorkspaces) },
    },
  };
};

const toResource = (grant: TeamProjectGrant): Resource => {
  const { projectAccess, workspaceAccess } = toProjectGrant(grant.access, grant.custom);
  return {
    id: grant.id,
    type: 'team-projects',
    attributes: {
      access: grant.access,
      'project-access': toKebabKeys(projectAccess),
      'workspace-access': toKebabKeys(workspaceAccess),
    },
    relationships: {
      team: toOne('teams', grant.teamId),
      project: toOne('projects', grant.projectId),
    },
    links: { self: `${API_PREFIX}/team-projects/${grant.id}` },
  };
};

const ONE = '/team-projects/:grant_id';

export const teamProjectRoutes = (context: ServiceContext): Route[] =>
  jsonApiRoutes('team access', [
    endpoint({
      method: 'POST',
      path: '/team-projects',
      summary: 'Give a team access to a project',
      body: { schema: CREATE },
      success: 201,
      handle: async ({ principal, body }) => {
        const { team, project } = body.data.relationships ?? {};
        if (team === undefined || project === undefined) {
          throw invalidAttribute('/data/relationships', 'team and project are required');
        }
        const place = { teamId: team.data.id, targetId: project.data.id };
        const grant = await createGrant(context, principal, PROJECT_GRANTS, place, (id) =>
          changeGrant(
            {
              id,
              teamId: place.teamId,
              projectId: place.targetId,
              access: body.data.attributes.access,
              custom: LEAST_CUSTOM_PROJECT_GRANT,
            },
            body.data.attributes,
          ),
        );
        return { document: { data: toResource(grant) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/team-projects',
      summary: 'List the teams with access to a project',
      handle: async ({ head, principal, query }) => {
        const grants = await listGrants(context, principal, PROJECT_GRANTS, {
          targetId: query.one('filter', 'project', 'id'),
          teamId: query.one('filter', 'team', 'id'),
        });
        const page = parsePage(query);
        const data = itemsOn(page, grants).map(toResource);
        return { document: toPaginatedDocument(head, { data, page, totalCount: grants.length }) };
      },
    }),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: "Show a team's access to a project",
      handle: async ({ principal, params }) => {
        const id = params['grant_id'] ?? '';
        const { grant } = await requireGrant(context.store, principal, PROJECT_GRANTS, id);
        return { document: { data: toResource(grant) } };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: ONE,
      summary: "Change a team's access to a project",
      body: { schema: UPDATE },
      handle: async ({ principal, params, body }) => {
        const id = params['grant_id'] ?? '';
        const grant = await updateGrant(context, principal, PROJECT_GRANTS, id, (current) =>
          changeGrant(current, body.data.attributes),
        );
        return { document: { data: toResource(grant) } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: "Remove a team's access to a project",
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteGrant(context, principal, PROJECT_GRANTS, params['grant_id'] ?? '');
        return undefined;
      },
    }),
  ]);
