import type { Route } from '@keelson/edge';
import {
  type Endpoint,
  endpoint,
  type Includes,
  itemsOn,
  jsonApiRoutes,
  one,
  pageOf,
  parseInclude,
  parsePage,
  parseSort,
  type QuerySchema,
  type Resource,
  resourceBody,
  sortedBy,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import { IncludedResources } from '../../base/included-resources.ts';
import { ownedTokenEndpoints, ownerInPath } from '../../identity/tokens/token-routes.ts';
import { loadRelatedWorkspace } from '../lifecycle/related-workspace.ts';
import { agentRecords } from '../model/agent-records.ts';
import { isAgentPoolOff } from '../model/part-switch-records.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { toAgentPoolResource } from './agent-pool-document.ts';
import {
  AGENT_POOL_SORTS,
  type AgentPoolAccessResult,
  type AgentPoolInput,
  createAgentPool,
  deleteAgentPool,
  listAgentPools,
  loadPoolWorkspaceIds,
  loadVisiblePool,
  requireAgentPool,
  updateAgentPool,
} from './agent-pool-operations.ts';

const listOf = <T extends string>(type: T) =>
  Type.Optional(
    Type.Object({
      data: Type.Array(
        Type.Object({ type: Type.Literal(type), id: Type.String({ maxLength: 64 }) }),
        { maxItems: 1000 },
      ),
    }),
  );

/** The operation checks form and length, so that its error can describe the rule. */
const name = Type.String();
const attributes = {
  'organization-scoped': Type.Optional(Type.Boolean()),
  'allowed-egress': Type.Optional(
    Type.Union([Type.Null(), Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100 })]),
  ),
};
const relationships = Type.Object({
  'allowed-workspaces': listOf('workspaces'),
  'allowed-projects': listOf('projects'),
  'excluded-workspaces': listOf('workspaces'),
});
const CREATE = resourceBody('agent-pools', Type.Object({ ...attributes, name }), relationships);
const UPDATE = resourceBody(
  'agent-pools',
  Type.Object({ ...attributes, name: Type.Optional(name) }),
  relationships,
);

const toIds = (
  list: { readonly data: readonly { readonly id: string }[] } | undefined,
): readonly string[] | undefined => list && [...new Set(list.data.map(({ id }) => id))];

const toGiven = ({ data }: Static<typeof UPDATE>): AgentPoolInput => {
  const {
    name: newName,
    'organization-scoped': organizationScoped,
    'allowed-egress': allowedEgress,
  } = data.attributes;
  const workspaceIds = toIds(data.relationships?.['allowed-workspaces']);
  const projectIds = toIds(data.relationships?.['allowed-projects']);
  const excludedIds = toIds(data.relationships?.['excluded-workspaces']);
  return {
    ...(newName === undefined ? {} : { name: newName }),
    ...(organizationScoped === undefined ? {} : { organizationScoped }),
    ...(allowedEgress === undefined ? {} : { allowedEgress }),
    ...(workspaceIds && { allowedWorkspaceIds: workspaceIds }),
    ...(projectIds && { allowedProjectIds: projectIds }),
    ...(excludedIds && { excludedWorkspaceIds: excludedIds }),
  };
};

// The second is accepted but includes nothing: customer-held keys (HYOK) are not supported.
const INCLUDES: Includes = { workspaces: ['workspaces'], hyok_configurations: [] };

/** The workspaces of a pool that the caller may read. */
const loadIncluded = async (
  context: WorkspacesContext,
  include: ReadonlySet<string>,
  pools: readonly AgentPoolAccessResult[],
): Promise<readonly Resource[]> => {
  const included = new IncludedResources();
  for (const owner of include.has('workspaces') ? pools : []) {
    await included.addEach(loadPoolWorkspaceIds(context.store, owner.pool), (id) =>
      loadRelatedWorkspace(context, owner, id),
    );
  }
  return included.all;
};

const COLLECTION = '/organizations/:organization_name/agent-pools';
const ONE = '/agent-pools/:agent_pool_id';

const tokenEndpoints = (context: WorkspacesContext): readonly Endpoint[] =>
  ownedTokenEndpoints(
    context,
    `${ONE}/authentication-tokens`,
    {
      create: 'Create a token for the agents of a pool',
      list: 'List the tokens of an agent pool',
    },
    ownerInPath('agent-pool', 'agent_pool_id'),
  );

const AGENT_POOL_FILTERS: QuerySchema = {
  q: { description: 'Part of the name.' },
  'filter[allowed_workspaces][name]': { description: 'A workspace that may use it.' },
  'filter[allowed_projects][name]': { description: 'A project that may use it.' },
  sort: sortedBy(AGENT_POOL_SORTS),
};

export const agentPoolRoutes = (context: WorkspacesContext): Route[] => {
  const { store } = context;
  const toResource = async (access: AgentPoolAccessResult) => {
    const { organization } = access;
    const { pool, workspaceIds } = await loadVisiblePool(store, access, access.pool);
    const agentIds = await agentRecords.by.pool.keys(store, [pool.organizationId, pool.id]);
    const isOff = await isAgentPoolOff(store, pool.id);
    return toAgentPoolResource({ pool, organization }, { workspaceIds, agentIds, isOff });
  };
  const answer = async (access: AgentPoolAccessResult) => ({
    document: { data: await toResource(access) },
  });
  return [
    ...jsonApiRoutes('tokens', tokenEndpoints(context)),
    ...jsonApiRoutes('agent pools', [
      endpoint({
        method: 'POST',
        path: COLLECTION,
        summary: 'Create an agent pool',
        answers: one('agent-pools'),
        body: { schema: CREATE },
        success: 201,
        handle: async ({ principal, params, body }) =>
          answer(
            await createAgentPool(context, principal, params.organization_name, {
              ...toGiven(body),
              name: body.data.attributes.name,
            }),
          ),
      }),
      endpoint({
        method: 'GET',
        path: COLLECTION,
        summary: 'List agent pools',
        query: AGENT_POOL_FILTERS,
        answers: pageOf('agent-pools', { includes: INCLUDES }),
        handle: async ({ head, principal, params, query }) => {
          const organizationName = params.organization_name;
          const include = parseInclude(query, INCLUDES);
          const all = await listAgentPools(context, principal, organizationName, {
            search: query.one('q'),
            sort: parseSort(query, AGENT_POOL_SORTS),
            workspaceName: query.one('filter', 'allowed_workspaces', 'name'),
            projectName: query.one('filter', 'allowed_projects', 'name'),
          });
          const page = parsePage(query);
          const shown = itemsOn(page, all);
          const data = await Promise.all(shown.map(toResource));
          const included = await loadIncluded(context, include, shown);
          const totalCount = all.length;
          return { document: toPaginatedDocument(head, { data, page, totalCount, included }) };
        },
      }),
      endpoint({
        method: 'GET',
        path: ONE,
        summary: 'Show an agent pool',
        answers: one('agent-pools', { includes: INCLUDES }),
        handle: async ({ principal, params, query }) => {
          const include = parseInclude(query, INCLUDES);
          const access = await requireAgentPool(store, principal, params.agent_pool_id);
          const { document } = await answer(access);
          const included = await loadIncluded(context, include, [access]);
          return { document: included.length === 0 ? document : { ...document, included } };
        },
      }),
      endpoint({
        method: 'PATCH',
        path: ONE,
        summary: 'Update an agent pool',
        answers: one('agent-pools'),
        body: { schema: UPDATE },
        handle: async ({ principal, params, body }) =>
          answer(await updateAgentPool(context, principal, params.agent_pool_id, toGiven(body))),
      }),
      endpoint({
        method: 'DELETE',
        path: ONE,
        summary: 'Delete an agent pool that nothing uses',
        success: 204,
        handle: async ({ principal, params }) => {
          await deleteAgentPool(context, principal, params.agent_pool_id);
          return undefined;
        },
      }),
    ]),
  ];
};
