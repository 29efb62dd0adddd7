import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes, resourceListBody } from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { moveWorkspaces } from './workspace-move-operations.ts';

const MOVED = resourceListBody(
  Type.Object({ type: Type.Literal('workspaces'), id: Type.String({ maxLength: 64 }) }),
  100,
);

export const workspaceMoveRoutes = (context: WorkspacesContext): Route[] =>
  jsonApiRoutes('projects', [
    endpoint({
      method: 'POST',
      path: '/projects/:project_id/relationships/workspaces',
      summary: 'Move workspaces into a project',
      body: { schema: MOVED },
      success: 204,
      handle: async ({ principal, params, body }) => {
        const ids = body.data.map(({ id }) => id);
        await moveWorkspaces(context, principal, params.project_id, ids);
        return undefined;
      },
    }),
  ]);
