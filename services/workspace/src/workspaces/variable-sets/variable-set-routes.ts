import type { Route } from '@keelson/edge';
import {
  type Endpoint,
  endpoint,
  itemsOn,
  type JsonApiDocument,
  jsonApiRoutes,
  nullable,
  one,
  type ParamsOf,
  pageOf,
  parseInclude,
  parsePage,
  type QueryParameters,
  type Resource,
  refuseInvalid,
  resourceBody,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { CREATE_VARIABLE, toGivenVariable } from '../variables/variable-request.ts';
import { requireVariableSet, type VariableSetAccess } from './variable-set-access-operations.ts';
import {
  loadVariableSet,
  loadVariableSets,
  VARIABLE_SET_INCLUDES,
} from './variable-set-includes.ts';
import {
  createVariableSet,
  deleteVariableSet,
  listProjectVariableSets,
  listVariableSets,
  listWorkspaceVariableSets,
  updateVariableSet,
  type VariableSetInput,
} from './variable-set-operations.ts';
import { NO_STACKS, toIds } from './variable-set-request.ts';

const name = Type.String({ minLength: 1, maxLength: 255 });
const attributes = {
  description: Type.Optional(nullable(Type.String({ maxLength: 512 }))),
  global: Type.Optional(Type.Boolean()),
  priority: Type.Optional(Type.Boolean()),
};
const listOf = (type: string) =>
  Type.Optional(
    Type.Object({
      data: Type.Array(
        Type.Object({ type: Type.Literal(type), id: Type.String({ maxLength: 64 }) }),
        { maxItems: 1000 },
      ),
    }),
  );
const relationships = {
  workspaces: listOf('workspaces'),
  projects: listOf('projects'),
  stacks: listOf('stacks'),
  vars: Type.Optional(
    Type.Object({
      data: Type.Array(Type.Object({ type: Type.Literal('vars'), attributes: CREATE_VARIABLE }), {
        maxItems: 1000,
      }),
    }),
  ),
};
const PARENT = Type.Object({
  type: Type.Union([Type.Literal('organizations'), Type.Literal('projects')]),
  id: Type.String({ maxLength: 64 }),
});
const CREATE = resourceBody(
  'varsets',
  Type.Object({ ...attributes, name }),
  Type.Object({
    ...relationships,
    parent: Type.Optional(Type.Object({ data: nullable(PARENT) })),
  }),
);
const UPDATE = resourceBody(
  'varsets',
  Type.Object({ ...attributes, name: Type.Optional(name) }),
  Type.Object(relationships),
);
/** A request may contain variables with their values, which decides its size limit. */
const LIMIT_BYTES = 8 * 1024 * 1024;

const toGiven = ({ data }: Static<typeof UPDATE>): VariableSetInput => {
  const { description, ...given } = data.attributes;
  const { workspaces, projects, stacks, vars } = data.relationships ?? {};
  if (stacks !== undefined && stacks.data.length > 0) {
    refuseInvalid([{ pointer: '/data/relationships/stacks', text: NO_STACKS }]);
  }
  return {
    ...given,
    ...(description === undefined ? {} : { description: description ?? '' }),
    ...(workspaces && { workspaceIds: toIds(workspaces) }),
    ...(projects && { projectIds: toIds(projects) }),
    newVariables: vars?.data.map(({ attributes: variable }) => ({
      ...toGivenVariable(variable),
      key: variable.key,
      category: variable.category,
    })),
  };
};

/** The project that will own the set; undefined means the organization. */
const toOwnerProjectId = (
  { data }: Static<typeof CREATE>,
  organizationName: string,
): string | undefined => {
  const parent = data.relationships?.parent?.data ?? undefined;
  if (parent?.type === 'projects') return parent.id;
  if (parent !== undefined && parent.id !== organizationName) {
    const text = 'the parent must be the organization in the address or one of its projects';
    refuseInvalid([{ pointer: '/data/relationships/parent/data/id', text }]);
  }
  return undefined;
};

const ONE = '/varsets/:varset_id';

export const variableSetRoutes = (context: WorkspacesContext): Route[] => {
  const toDocument = async (
    access: VariableSetAccess,
    query: QueryParameters,
  ): Promise<JsonApiDocument<Resource<'varsets'>>> => {
    const include = parseInclude(query, VARIABLE_SET_INCLUDES);
    const { data, included } = await loadVariableSet(context, access, include);
    return included.length === 0 ? { data } : { data, included };
  };

  const list = <const Path extends string>(
    path: Path,
    ownerOf: (params: ParamsOf<Path>) => string,
    summary: string,
    load: typeof listVariableSets,
  ): Endpoint =>
    endpoint({
      method: 'GET',
      path,
      summary,
      query: { q: { description: 'Part of the name.' } },
      answers: pageOf('varsets', { includes: VARIABLE_SET_INCLUDES }),
      handle: async ({ head, principal, params, query }) => {
        const include = parseInclude(query, VARIABLE_SET_INCLUDES);
        const page = parsePage(query);
        const all = await load(context.store, principal, ownerOf(params), query.one('q'));
        const shown = itemsOn(page, all);
        const { data, included } = await loadVariableSets(context, shown, include);
        const listing = { data, page, totalCount: all.length, included };
        return { document: toPaginatedDocument(head, listing) };
      },
    });

  return jsonApiRoutes('variable sets', [
    endpoint({
      method: 'POST',
      path: '/organizations/:organization_name/varsets',
      summary: 'Create a variable set',
      answers: one('varsets', { includes: VARIABLE_SET_INCLUDES }),
      body: { schema: CREATE, limitBytes: LIMIT_BYTES },
      handle: async ({ principal, params, query, body }) => {
        const organizationName = params.organization_name;
        const access = await createVariableSet(
          context,
          principal,
          organizationName,
          { ...toGiven(body), name: body.data.attributes.name },
          toOwnerProjectId(body, organizationName),
        );
        return { document: await toDocument(access, query) };
      },
    }),
    list(
      '/organizations/:organization_name/varsets',
      (params) => params.organization_name,
      'List the variable sets of an organization',
      listVariableSets,
    ),
    list(
      '/projects/:project_id/varsets',
      (params) => params.project_id,
      'List the variable sets that reach a project',
      listProjectVariableSets,
    ),
    list(
      '/workspaces/:workspace_id/varsets',
      (params) => params.workspace_id,
      'List the variable sets that reach a workspace',
      listWorkspaceVariableSets,
    ),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show a variable set',
      answers: one('varsets', { includes: VARIABLE_SET_INCLUDES }),
      handle: async ({ principal, params, query }) => {
        const id = params.varset_id;
        const access = await requireVariableSet(context.store, principal, id, 'read');
        return { document: await toDocument(access, query) };
      },
    }),
    ...(['PATCH', 'PUT'] as const).map((method) =>
      endpoint({
        method,
        path: ONE,
        summary: 'Update a variable set',
        answers: one('varsets', { includes: VARIABLE_SET_INCLUDES }),
        body: { schema: UPDATE, limitBytes: LIMIT_BYTES },
        handle: async ({ principal, params, query, body }) => {
          const id = params.varset_id;
          const access = await updateVariableSet(context, principal, id, toGiven(body));
          return { document: await toDocument(access, query) };
        },
      }),
    ),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Delete a variable set',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteVariableSet(context, principal, params.varset_id);
        return undefined;
      },
    }),
  ]);
};
