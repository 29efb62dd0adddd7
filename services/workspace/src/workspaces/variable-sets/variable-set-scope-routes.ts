/** Routes for the targets of a variable set. */
import type { Route } from '@keelson/edge';
import {
  type Endpoint,
  endpoint,
  jsonApiRoutes,
  refuseInvalid,
  resourceListBody,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { requireVariableSet } from './variable-set-access-operations.ts';
import { changeTargets } from './variable-set-operations.ts';
import { NO_STACKS, toIds } from './variable-set-request.ts';
import type { TargetKind } from './variable-set-rules.ts';

const identifiers = (type: string) =>
  resourceListBody(Type.Object({ type: Type.Literal(type), id: Type.String({ maxLength: 64 }) }));

const CHANGES = [
  { method: 'POST', change: 'add', summary: 'Apply a variable set to' },
  { method: 'DELETE', change: 'remove', summary: 'Remove a variable set from' },
] as const;

const path = <Kind extends string>(kind: Kind) =>
  `/varsets/:varset_id/relationships/${kind}` as const;

export const variableSetScopeRoutes = (context: WorkspacesContext): Route[] => {
  const changes = (kind: TargetKind): readonly Endpoint[] =>
    CHANGES.map(({ method, change, summary }) =>
      endpoint({
        method,
        path: path(kind),
        summary: `${summary} ${kind}`,
        body: { schema: identifiers(kind) },
        success: 204,
        handle: async ({ principal, params, body }) => {
          const id = params.varset_id;
          await changeTargets(context, principal, id, kind, toIds(body), change);
          return undefined;
        },
      }),
    );
  return jsonApiRoutes('variable sets', [
    ...changes('workspaces'),
    ...changes('projects'),
    ...CHANGES.map(({ method, summary }) =>
      endpoint({
        method,
        path: path('stacks'),
        summary: `${summary} stacks: refused, there are none`,
        body: { schema: identifiers('stacks') },
        success: 204,
        handle: async ({ principal, params, body }) => {
          await requireVariableSet(context.store, principal, params.varset_id, 'manage');
          if (body.data.length > 0) refuseInvalid([{ pointer: '/data', text: NO_STACKS }]);
          return undefined;
        },
      }),
    ),
  ]);
};
