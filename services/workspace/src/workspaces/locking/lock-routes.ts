import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes, many, nullable, one } from '@keelson/jsonapi';
import { Type } from 'typebox';
import { answerWorkspace } from '../lifecycle/workspace-routes.ts';
import { toWorkspaceIncludes } from '../seams/workspace-contributions.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { toLockResource } from './held-lock-document.ts';
import { listHeldLocks } from './held-lock-operations.ts';
import { lockWorkspace, unlockWorkspace } from './lock-operations.ts';

const reason = Type.Optional(nullable(Type.String({ maxLength: 4096 })));

// The documented body is {"reason": …}; provisioning clients send a resource with an empty type.
const LOCK_BODY = Type.Object({
  reason,
  data: Type.Optional(nullable(Type.Object({ attributes: Type.Object({ reason }) }))),
});

const ACTIONS = '/workspaces/:workspace_id/actions';

export const lockRoutes = (context: WorkspacesContext): Route[] =>
  jsonApiRoutes('workspaces', [
    endpoint({
      method: 'POST',
      path: `${ACTIONS}/lock`,
      summary: 'Lock a workspace',
      answers: one('workspaces', { includes: toWorkspaceIncludes(context.workspaceContributions) }),
      body: { schema: LOCK_BODY, optional: true },
      handle: async (exchange) => {
        const { params, principal, body } = exchange;
        const given = body?.reason ?? body?.data?.attributes.reason ?? '';
        const id = params.workspace_id;
        const access = await lockWorkspace(context, principal, id, given);
        return answerWorkspace(context, exchange, access);
      },
    }),
    endpoint({
      method: 'POST',
      path: `${ACTIONS}/unlock`,
      summary: 'Unlock a workspace that the caller locked',
      answers: one('workspaces', { includes: toWorkspaceIncludes(context.workspaceContributions) }),
      handle: async (exchange) => {
        const { params, principal } = exchange;
        const access = await unlockWorkspace(context, principal, params.workspace_id);
        return answerWorkspace(context, exchange, access);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/account/workspace-locks',
      summary: 'List the locks that the caller holds, in all organizations, the oldest first',
      answers: many('workspace-locks'),
      handle: async ({ principal }) => {
        const held = await listHeldLocks(context, principal);
        return { document: { data: held.map(toLockResource) } };
      },
    }),
  ]);
