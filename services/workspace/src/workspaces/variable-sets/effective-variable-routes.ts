import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes, many } from '@keelson/jsonapi';
import type { ServiceContext } from '../../base/service-context.ts';
import { listEffectiveVariables } from './effective-variable-operations.ts';
import { toEffectiveVariableResource } from './variable-set-document.ts';

export const effectiveVariableRoutes = ({ store }: ServiceContext): Route[] =>
  jsonApiRoutes('variables', [
    endpoint({
      method: 'GET',
      path: '/workspaces/:workspace_id/all-vars',
      summary: 'List the variables of a workspace and of the variable sets that reach it',
      answers: many('vars'),
      handle: async ({ principal, params }) => {
        const id = params['workspace_id'] ?? '';
        const variables = await listEffectiveVariables(store, principal, id);
        return { document: { data: variables.map(toEffectiveVariableResource) } };
      },
    }),
  ]);
