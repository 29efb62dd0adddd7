import type { Route } from '@keelson/edge';
import {
  type Endpoint,
  endpoint,
  invalidAttribute,
  jsonApiRoutes,
  nullable,
  resourceBody,
  resourceListBody,
} from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import { notFound } from '../access/access-operations.ts';
import type { ServiceContext } from '../service-context.ts';
import { type GivenVariable, VARIABLE_CATEGORIES } from './domain/variable.ts';
import { toVariableResource } from './variable-document.ts';
import {
  changeVariables,
  createVariable,
  deleteVariable,
  listVariables,
  requireVariable,
  updateVariable,
  type VariableAddress,
} from './variable-operations.ts';

const MAX_VALUE_LENGTH = 256 * 1024;
/** Of a request that changes many at once. */
const CHANGES_LIMIT_BYTES = 8 * 1024 * 1024;

const key = Type.String({ minLength: 1, maxLength: 256 });
const category = Type.Union(VARIABLE_CATEGORIES.map((name) => Type.Literal(name)));
const attributes = {
  value: Type.Optional(nullable(Type.String({ maxLength: MAX_VALUE_LENGTH }))),
  description: Type.Optional(nullable(Type.String({ maxLength: 512 }))),
  hcl: Type.Optional(Type.Boolean()),
  sensitive: Type.Optional(Type.Boolean()),
};
const CREATE_ATTRIBUTES = Type.Object({ ...attributes, key, category });
const UPDATE_ATTRIBUTES = Type.Object({
  ...attributes,
  key: Type.Optional(key),
  category: Type.Optional(category),
});
const CREATE = resourceBody('vars', CREATE_ATTRIBUTES);
const UPDATE = resourceBody('vars', UPDATE_ATTRIBUTES);

// The older address names the workspace in the document.
const CREATE_ANYWHERE = resourceBody(
  'vars',
  CREATE_ATTRIBUTES,
  Type.Object({
    workspace: Type.Object({
      data: Type.Object({
        type: Type.Literal('workspaces'),
        id: Type.String({ maxLength: 64 }),
      }),
    }),
  }),
);

const CHANGES = resourceListBody(
  Type.Object({
    type: Type.Optional(Type.Literal('vars')),
    id: Type.Optional(Type.String({ maxLength: 64 })),
    attributes: UPDATE_ATTRIBUTES,
  }),
);

const toGiven = ({ value, ...given }: Static<typeof UPDATE_ATTRIBUTES>): GivenVariable => ({
  ...given,
  ...(value == null ? {} : { value }),
});

const COLLECTION = '/workspaces/:workspace_id/vars';

export const variableRoutes = (context: ServiceContext): Route[] => {
  const toAddress = (params: Readonly<Record<string, string>>): VariableAddress => ({
    variableId: params['variable_id'] ?? '',
    workspaceId: params['workspace_id'],
  });

  const change = (path: string): readonly Endpoint[] => [
    endpoint({
      method: 'PATCH',
      path,
      summary: 'Update a variable',
      body: { schema: UPDATE },
      handle: async ({ principal, params, body }) => {
        const given = toGiven(body.data.attributes);
        const variable = await updateVariable(context, principal, toAddress(params), given);
        return { document: { data: toVariableResource(variable) } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path,
      summary: 'Delete a variable',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteVariable(context, principal, toAddress(params));
        return undefined;
      },
    }),
  ];

  return jsonApiRoutes('variables', [
    endpoint({
      method: 'POST',
      path: COLLECTION,
      summary: 'Create a variable of a workspace',
      body: { schema: CREATE },
      success: 201,
      handle: async ({ principal, params, body }) => {
        const { attributes: given } = body.data;
        const variable = await createVariable(context, principal, params['workspace_id'] ?? '', {
          ...toGiven(given),
          key: given.key,
          category: given.category,
        });
        return { document: { data: toVariableResource(variable) } };
      },
    }),
    // No variables come from elsewhere, so that all of them are the workspace's own.
    ...[COLLECTION, '/workspaces/:workspace_id/all-vars'].map((path) =>
      endpoint({
        method: 'GET',
        path,
        summary: 'List the variables of a workspace',
        handle: async ({ principal, params }) => {
          const address = { workspaceId: params['workspace_id'] ?? '' };
          const variables = await listVariables(context, principal, address);
          return { document: { data: variables.map(toVariableResource) } };
        },
      }),
    ),
    endpoint({
      method: 'PATCH',
      path: '/workspaces/:workspace_id/relationships/vars',
      summary: 'Add and change variables of a workspace, all of them or none',
      body: { schema: CHANGES, limitBytes: CHANGES_LIMIT_BYTES },
      success: 204,
      handle: async ({ principal, params, body }) => {
        const changes = body.data.map(({ id, attributes: given }) => ({ id, ...toGiven(given) }));
        await changeVariables(context, principal, params['workspace_id'] ?? '', changes);
        return undefined;
      },
    }),
    endpoint({
      method: 'GET',
      path: `${COLLECTION}/:variable_id`,
      summary: 'Show a variable',
      handle: async ({ principal, params }) => {
        const { variable } = await requireVariable(context.store, principal, toAddress(params));
        return { document: { data: toVariableResource(variable) } };
      },
    }),
    ...change(`${COLLECTION}/:variable_id`),
    endpoint({
      method: 'POST',
      path: '/vars',
      summary: 'Create a variable of the workspace that the document names',
      body: { schema: CREATE_ANYWHERE },
      success: 201,
      handle: async ({ principal, body }) => {
        const { attributes: given, relationships } = body.data;
        if (relationships === undefined) {
          throw invalidAttribute('/data/relationships/workspace', 'a workspace is required');
        }
        const variable = await createVariable(context, principal, relationships.workspace.data.id, {
          ...toGiven(given),
          key: given.key,
          category: given.category,
        });
        return { document: { data: toVariableResource(variable) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/vars',
      summary: 'List the variables of the workspace that the filters name',
      handle: async ({ principal, query }) => {
        const organizationName = query.one('filter', 'organization', 'name');
        const workspaceName = query.one('filter', 'workspace', 'name');
        if (organizationName === undefined || workspaceName === undefined) {
          throw notFound('workspace');
        }
        const address = { organizationName, workspaceName };
        const variables = await listVariables(context, principal, address);
        return { document: { data: variables.map(toVariableResource) } };
      },
    }),
    ...change('/vars/:variable_id'),
  ]);
};
