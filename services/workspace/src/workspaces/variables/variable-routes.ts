import type { Route } from '@keelson/edge';
import {
  type Endpoint,
  endpoint,
  invalidAttribute,
  jsonApiRoutes,
  many,
  one,
  type ParamsOf,
  resourceBody,
  resourceListBody,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
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
import { CREATE_VARIABLE, toGivenVariable, UPDATE_VARIABLE } from './variable-request.ts';

/** Size limit of a request that changes many variables at once. */
const CHANGES_LIMIT_BYTES = 8 * 1024 * 1024;

const CREATE = resourceBody('vars', CREATE_VARIABLE);
const UPDATE = resourceBody('vars', UPDATE_VARIABLE);

// The older endpoint names the workspace in the document.
const CREATE_ANYWHERE = resourceBody(
  'vars',
  CREATE_VARIABLE,
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
    attributes: UPDATE_VARIABLE,
  }),
);

const COLLECTION = '/workspaces/:workspace_id/vars';

/** A variable's path below its workspace, and the older one by its id alone. */
const IN_WORKSPACE = `${COLLECTION}/:variable_id` as const;
const BY_ID = '/vars/:variable_id';
type OnePath = typeof IN_WORKSPACE | typeof BY_ID;

const toAddress = (params: ParamsOf<OnePath>): VariableAddress => ({
  variableId: params.variable_id,
  workspaceId: 'workspace_id' in params ? params.workspace_id : undefined,
});

/** Routes that change one variable, which has two addresses. */
const changeEndpoints = (context: ServiceContext, path: OnePath): readonly Endpoint[] => [
  endpoint({
    method: 'PATCH',
    path,
    summary: 'Update a variable',
    answers: one('vars'),
    body: { schema: UPDATE },
    handle: async ({ principal, params, body }) => {
      const given = toGivenVariable(body.data.attributes);
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

export const variableRoutes = (context: ServiceContext): Route[] =>
  jsonApiRoutes('variables', [
    endpoint({
      method: 'POST',
      path: COLLECTION,
      summary: 'Create a variable of a workspace',
      answers: one('vars'),
      body: { schema: CREATE },
      success: 201,
      handle: async ({ principal, params, body }) => {
        const { attributes: given } = body.data;
        const variable = await createVariable(context, principal, params.workspace_id, {
          ...toGivenVariable(given),
          key: given.key,
          category: given.category,
        });
        return { document: { data: toVariableResource(variable) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: COLLECTION,
      summary: 'List the variables of a workspace',
      answers: many('vars'),
      handle: async ({ principal, params }) => {
        const address = { workspaceId: params.workspace_id };
        const variables = await listVariables(context, principal, address);
        return { document: { data: variables.map(toVariableResource) } };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: '/workspaces/:workspace_id/relationships/vars',
      summary: 'Add and update variables of a workspace, all or none',
      body: { schema: CHANGES, limitBytes: CHANGES_LIMIT_BYTES },
      success: 204,
      handle: async ({ principal, params, body }) => {
        const changes = body.data.map(({ id, attributes: given }) => ({
          id,
          ...toGivenVariable(given),
        }));
        await changeVariables(context, principal, params.workspace_id, changes);
        return undefined;
      },
    }),
    endpoint({
      method: 'GET',
      path: IN_WORKSPACE,
      summary: 'Show a variable',
      answers: one('vars'),
      handle: async ({ principal, params }) => {
        const { variable } = await requireVariable(context.store, principal, toAddress(params));
        return { document: { data: toVariableResource(variable) } };
      },
    }),
    ...changeEndpoints(context, IN_WORKSPACE),
    endpoint({
      method: 'POST',
      path: '/vars',
      summary: 'Create a variable of the workspace that the document names',
      answers: one('vars'),
      body: { schema: CREATE_ANYWHERE },
      success: 201,
      handle: async ({ principal, body }) => {
        const { attributes: given, relationships } = body.data;
        if (relationships === undefined) {
          throw invalidAttribute('/data/relationships/workspace', 'a workspace is required');
        }
        const variable = await createVariable(context, principal, relationships.workspace.data.id, {
          ...toGivenVariable(given),
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
      query: {
        'filter[organization][name]': { description: 'The organization.', isRequired: true },
        'filter[workspace][name]': { description: 'The workspace.', isRequired: true },
      },
      answers: many('vars'),
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
    ...changeEndpoints(context, BY_ID),
  ]);
