import type { Route } from '@keelson/edge';
import {
  endpoint,
  itemsOn,
  jsonApiRoutes,
  one,
  type ParamsOf,
  pageOf,
  parsePage,
  resourceBody,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import type { ServiceContext } from '../../base/service-context.ts';
import {
  CREATE_VARIABLE,
  toGivenVariable,
  UPDATE_VARIABLE,
} from '../variables/variable-request.ts';
import { toSetVariableResource } from './variable-set-document.ts';
import {
  createSetVariable,
  deleteSetVariable,
  listSetVariables,
  requireSetVariable,
  type SetVariableAddress,
  updateSetVariable,
} from './variable-set-variable-operations.ts';

const CREATE = resourceBody('vars', CREATE_VARIABLE);
const UPDATE = resourceBody('vars', UPDATE_VARIABLE);

const COLLECTION = '/varsets/:varset_id/relationships/vars';
const ONE = `${COLLECTION}/:variable_id` as const;

const toAddress = (params: ParamsOf<typeof ONE>): SetVariableAddress => ({
  setId: params.varset_id,
  variableId: params.variable_id,
});

export const variableSetVariableRoutes = (context: ServiceContext): Route[] =>
  jsonApiRoutes('variable sets', [
    endpoint({
      method: 'POST',
      path: COLLECTION,
      summary: 'Add a variable to a variable set',
      answers: one('vars'),
      body: { schema: CREATE },
      handle: async ({ principal, params, body }) => {
        const { attributes } = body.data;
        const variable = await createSetVariable(context, principal, params.varset_id, {
          ...toGivenVariable(attributes),
          key: attributes.key,
          category: attributes.category,
        });
        return { document: { data: toSetVariableResource(variable) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: COLLECTION,
      summary: 'List the variables of a variable set',
      answers: pageOf('vars'),
      handle: async ({ head, principal, params, query }) => {
        const all = await listSetVariables(context.store, principal, params.varset_id);
        const page = parsePage(query);
        const data = itemsOn(page, all).map(toSetVariableResource);
        return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
      },
    }),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show a variable of a variable set',
      answers: one('vars'),
      handle: async ({ principal, params }) => {
        const address = toAddress(params);
        const { variable } = await requireSetVariable(context.store, principal, address, 'read');
        return { document: { data: toSetVariableResource(variable) } };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: ONE,
      summary: 'Update a variable of a variable set',
      answers: one('vars'),
      body: { schema: UPDATE },
      handle: async ({ principal, params, body }) => {
        const given = toGivenVariable(body.data.attributes);
        const variable = await updateSetVariable(context, principal, toAddress(params), given);
        return { document: { data: toSetVariableResource(variable) } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Delete a variable of a variable set',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteSetVariable(context, principal, toAddress(params));
        return undefined;
      },
    }),
  ]);
