import type { Route } from '@keelson/edge';
import {
  endpoint,
  itemsOn,
  jsonApiRoutes,
  pageOf,
  parsePage,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import type { ServiceContext } from '../../base/service-context.ts';
import { requireWorkspace } from '../../workspaces/access/access-operations.ts';
import { findWorkspaceState } from '../../workspaces/model/workspace-state-records.ts';
import { loadModifiers } from '../state-versions/instance-operations.ts';
import { stateSummaries } from '../state-versions/state-version-records.ts';
import { listManagedInstances } from './domain/managed-instance.ts';
import { toManagedInstanceResource } from './managed-instance-document.ts';

export const managedInstanceRoutes = (context: ServiceContext): Route[] =>
  jsonApiRoutes('workspaces', [
    endpoint({
      method: 'GET',
      path: '/workspaces/:workspace_id/resources',
      summary: 'List the resources in the current state of a workspace',
      answers: pageOf('resources'),
      handle: async ({ head, principal, params, query }) => {
        const { store } = context;
        const address = { workspaceId: params.workspace_id };
        const { workspace } = await requireWorkspace(
          store,
          principal,
          address,
          'canReadStateVersions',
        );
        const { currentId } = await findWorkspaceState(store, workspace);
        const summary = await stateSummaries.find(store, currentId ?? '');
        const modifierOf = await loadModifiers(store, currentId ?? '');
        const all = listManagedInstances(summary?.resources ?? []);
        const page = parsePage(query);
        const data = itemsOn(page, all).map((instance) =>
          // The current version is shown when no comparison has been recorded.
          toManagedInstanceResource(workspace, instance, modifierOf(instance.address) ?? currentId),
        );
        return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
      },
    }),
  ]);
