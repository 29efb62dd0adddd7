import type { Route } from '@keelson/edge';
import {
  endpoint,
  itemsOn,
  jsonApiRoutes,
  parsePage,
  type Resource,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { derivedId } from '../../base/derived-id.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { requireWorkspace } from '../../workspaces/access/access-operations.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import { loadModifiers } from '../states/instance-operations.ts';
import { stateSummaries } from '../states/state-version-records.ts';
import { listManagedInstances, type ManagedInstance } from './domain/managed-instance.ts';

/** @param modifiedById the version that last changed it, if known */
const toResource = (
  { id, state }: Workspace,
  instance: ManagedInstance,
  modifiedById: string | undefined,
): Resource => ({
  id: derivedId('wr', id, instance.address),
  type: 'resources',
  attributes: {
    address: instance.address,
    name: instance.name,
    module: instance.module,
    provider: instance.provider,
    'provider-type': instance.resourceType,
    // The current version is shown when no comparison has been recorded.
    'modified-by-state-version-id': modifiedById ?? state.currentId,
    'name-index': instance.key === null ? null : String(instance.key),
  },
});

export const managedInstanceRoutes = (context: ServiceContext): Route[] =>
  jsonApiRoutes('workspaces', [
    endpoint({
      method: 'GET',
      path: '/workspaces/:workspace_id/resources',
      summary: 'List the resources in the current state of a workspace',
      handle: async ({ head, principal, params, query }) => {
        const { store } = context;
        const address = { workspaceId: params['workspace_id'] ?? '' };
        const { workspace } = await requireWorkspace(
          store,
          principal,
          address,
          'canReadStateVersions',
        );
        const currentId = workspace.state.currentId ?? '';
        const summary = await stateSummaries.find(store, currentId);
        const modifierOf = await loadModifiers(store, currentId);
        const all = listManagedInstances(summary?.resources ?? []);
        const page = parsePage(query);
        const data = itemsOn(page, all).map((instance) =>
          toResource(workspace, instance, modifierOf(instance.address)),
        );
        return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
      },
    }),
  ]);
