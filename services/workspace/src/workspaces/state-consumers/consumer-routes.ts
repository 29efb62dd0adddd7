import type { Route } from '@keelson/edge';
import {
  type Endpoint,
  endpoint,
  FLAG,
  jsonApiRoutes,
  pageOf,
  parsePage,
  resourceListBody,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { readableOnly } from '@keelson/storage';
import { Type } from 'typebox';
import { findSitePolicyFor } from '../../base/retention/retention-records.ts';
import { loadShown } from '../access/shown-workspace.ts';
import { toWorkspaceResource } from '../lifecycle/workspace-document.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import {
  addConsumers,
  listConsumers,
  removeConsumers,
  replaceConsumers,
} from './consumer-operations.ts';

const PATH = '/workspaces/:workspace_id/relationships/remote-state-consumers';

const CONSUMERS = resourceListBody(
  Type.Object({ type: Type.Literal('workspaces'), id: Type.String({ maxLength: 64 }) }),
);

export const consumerRoutes = (context: WorkspacesContext): Route[] => {
  const change = (
    method: 'POST' | 'PATCH' | 'DELETE',
    summary: string,
    apply: typeof addConsumers,
  ): Endpoint =>
    endpoint({
      method,
      path: PATH,
      summary,
      body: { schema: CONSUMERS },
      success: 204,
      handle: async ({ principal, params, body }) => {
        const ids = body.data.map(({ id }) => id);
        await apply(context, principal, params.workspace_id, ids);
        return undefined;
      },
    });
  return jsonApiRoutes('remote state consumers', [
    endpoint({
      method: 'GET',
      path: PATH,
      summary: 'List the workspaces that may read the state',
      query: {
        show_only_configured: {
          description: 'Whether workspaces are left out that may read because all may.',
          schema: FLAG,
        },
      },
      answers: pageOf('workspaces'),
      handle: async ({ head, principal, params, query }) => {
        const page = parsePage(query);
        const { workspaces, totalCount } = await listConsumers(
          context,
          principal,
          params.workspace_id,
          query.one('show_only_configured') === 'true',
          page,
        );
        const sitePolicy = await findSitePolicyFor(context.store, workspaces);
        const reads = readableOnly(context.store);
        const shown = await Promise.all(workspaces.map((access) => loadShown(reads, access)));
        const data = shown.map((workspace) =>
          toWorkspaceResource(context.workspaceContributions, workspace, sitePolicy),
        );
        return { document: toPaginatedDocument(head, { data, page, totalCount }) };
      },
    }),
    change('POST', 'Add remote state consumers', addConsumers),
    change('PATCH', 'Replace the remote state consumers', replaceConsumers),
    change('DELETE', 'Remove remote state consumers', removeConsumers),
  ]);
};
