import type { Route } from '@keelson/edge';
import {
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
  LEAST_CUSTOM_RIGHTS,
  toWorkspaceRights,
  WORKSPACE_ACCESS_LEVELS,
} from './domain/team-grants.ts';
import { MOCKS_RIGHTS, STATE_RIGHTS, VARIABLES_RIGHTS } from './domain/workspace-rights.ts';
import {
  createGrant,
  deleteGrant,
  listGrants,
  requireGrant,
  updateGrant,
  WORKSPACE_GRANTS,
} from './grant-operations.ts';
import type { TeamWorkspaceGrant } from './grant-records.ts';

const oneOf = <T extends string>(values: readonly T[]) =>
  Type.Union(values.map((value) => Type.Literal(value)));

const custom = {
  runs: Type.Optional(oneOf(['read', 'plan', 'apply'])),
  variables: Type.Optional(oneOf(VARIABLES_RIGHTS)),
  'state-versions': Type.Optional(oneOf(STATE_RIGHTS)),
  'sentinel-mocks': Type.Optional(oneOf(MOCKS_RIGHTS)),
  'workspace-locking': Type.Optional(Type.Boolean()),
  'run-tasks': Type.Optional(Type.Boolean()),
};

const access = oneOf(WORKSPACE_ACCESS_LEVELS);
const reference = (type: string) =>
  Type.Object({
    data: Type.Object({ type: Type.Literal(type), id: Type.String({ maxLength: 64 }) }),
  });

const CREATE = resourceBody(
  'team-workspaces',
  Type.Object({ access, ...custom }),
  Type.Object({ team: reference('teams'), workspace: reference('workspaces') }),
);
const UPDATE_ATTRIBUTES = Type.Object({ access: Type.Optional(access), ...custom });
const UPDATE = resourceBody('team-workspaces', UPDATE_ATTRIBUTES);

/** Single rights may be set with the custom level only. */
const changeGrant = (
  current: TeamWorkspaceGrant,
  given: Static<typeof UPDATE_ATTRIBUTES>,
): TeamWorkspaceGrant => {
  const { access: level = current.access, ...rights } = given;
  const [first] = Object.keys(rights);
  if (level !== 'custom' && first !== undefined) {
    throw invalidAttribute(
      `/data/attributes/${first}`,
      `${first} is read-only when access level is '${level}'; use the 'custom' access level to set this attribute.`,
    );
  }
  return { ...current, access: level, custom: { ...current.custom, ...toCamelKeys(rights) } };
};

const toResource = (grant: TeamWorkspaceGrant): Resource => {
  const { runs, variables, stateVersions, sentinelMocks, workspaceLocking, runTasks } =
    toWorkspaceRights(grant.access, grant.custom);
  return {
    id: grant.id,
    type: 'team-workspaces',
    attributes: {
      access: grant.access,
      ...toKebabKeys({
        runs,
        variables,
        stateVersions,
        sentinelMocks,
        workspaceLocking,
        runTasks,
      }),
    },
    relationships: {
      team: toOne('teams', grant.teamId),
      workspace: toOne('workspaces', grant.workspaceId),
    },
    links: { self: `/api/v2/team-workspaces/${grant.id}` },
  };
};

const ONE = '/team-workspaces/:grant_id';

export const teamWorkspaceRoutes = (context: ServiceContext): Route[] =>
  jsonApiRoutes('team access', [
    endpoint({
      method: 'POST',
      path: '/team-workspaces',
      summary: 'Give a team access to a workspace',
      body: { schema: CREATE },
      success: 201,
      handle: async ({ principal, body }) => {
        const { team, workspace } = body.data.relationships ?? {};
        if (team === undefined || workspace === undefined) {
          throw invalidAttribute('/data/relationships', 'team and workspace are required');
        }
        const place = { teamId: team.data.id, targetId: workspace.data.id };
        const grant = await createGrant(context, principal, WORKSPACE_GRANTS, place, (id) =>
          changeGrant(
            {
              id,
              teamId: place.teamId,
              workspaceId: place.targetId,
              access: body.data.attributes.access,
              custom: LEAST_CUSTOM_RIGHTS,
            },
            body.data.attributes,
          ),
        );
        return { document: { data: toResource(grant) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/team-workspaces',
      summary: 'List the access of teams to a workspace, of a team to workspaces, or both',
      handle: async ({ head, principal, query }) => {
        const grants = await listGrants(context, principal, WORKSPACE_GRANTS, {
          targetId: query.one('filter', 'workspace', 'id'),
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
      summary: "Show a team's access to a workspace",
      handle: async ({ principal, params }) => {
        const id = params['grant_id'] ?? '';
        const { grant } = await requireGrant(context.store, principal, WORKSPACE_GRANTS, id);
        return { document: { data: toResource(grant) } };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: ONE,
      summary: "Change a team's access to a workspace",
      body: { schema: UPDATE },
      handle: async ({ principal, params, body }) => {
        const id = params['grant_id'] ?? '';
        const grant = await updateGrant(context, principal, WORKSPACE_GRANTS, id, (current) =>
          changeGrant(current, body.data.attributes),
        );
        return { document: { data: toResource(grant) } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: "Remove a team's access to a workspace",
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteGrant(context, principal, WORKSPACE_GRANTS, params['grant_id'] ?? '');
        return undefined;
      },
    }),
  ]);
