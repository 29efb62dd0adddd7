import type { Route } from '@keelson/edge';
import { endpoint, FLAG, jsonApiRoutes, many } from '@keelson/jsonapi';
import type { ServiceContext } from '../../base/service-context.ts';
import { listEffectiveVariables } from './effective-variable-operations.ts';
import { toEffectiveVariableResource } from './variable-set-document.ts';

export const effectiveVariableRoutes = ({ store }: ServiceContext): Route[] =>
  jsonApiRoutes('variables', [
    endpoint({
      method: 'GET',
      path: '/workspaces/:workspace_id/all-vars',
      summary: 'List the variables that the runs of a workspace get, with those of variable sets',
      query: {
        show_overwritten: {
          description: 'Whether variables that others override are listed, too.',
          schema: FLAG,
        },
      },
      answers: many('vars'),
      handle: async ({ principal, params, query }) => {
        const id = params.workspace_id;
        const all = await listEffectiveVariables(store, principal, id);
        const isComplete = query.one('show_overwritten') === 'true';
        const shown = all.filter(({ overwriterId }) => isComplete || overwriterId === null);
        return { document: { data: shown.map(toEffectiveVariableResource) } };
      },
    }),
  ]);
