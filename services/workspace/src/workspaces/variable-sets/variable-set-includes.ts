/** Variable sets with their included resources, as far as the reader may see them. */
import type { Resource } from '@keelson/jsonapi';
import { findSitePolicyFor } from '../../base/retention/retention-records.ts';
import { seesWholeOrganization } from '../../identity/access/domain/standing.ts';
import {
  findReadableProject,
  loadWorkspaceAccess,
  type WorkspaceAccessResult,
} from '../access/access-operations.ts';
import { findVisibleIds } from '../listing/visible-scope.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import { toProjectResource } from '../projects/project-document.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { toWorkspaceResource } from '../workspaces/workspace-document.ts';
import type { VariableSetAccess } from './variable-set-access-operations.ts';
import {
  toSetVariableResource,
  toVariableSetResource,
  type VariableSetView,
} from './variable-set-document.ts';
import { loadSetVariables } from './variable-set-records.ts';

/** Names allowed in `include`. There are no stacks, so that none is ever included. */
export const VARIABLE_SET_INCLUDES: ReadonlySet<string> = new Set([
  'vars',
  'workspaces',
  'projects',
  'stacks',
]);

const loadView = async (
  { store }: WorkspacesContext,
  access: VariableSetAccess,
): Promise<VariableSetView> => {
  const { set, organization, standing } = access;
  const { workspaceIds, projectIds } = set;
  if (seesWholeOrganization(standing)) return { set, organization, workspaceIds, projectIds };
  const projects = await Promise.all(
    projectIds.map((id) => findReadableProject(store, access, id)),
  );
  return {
    set,
    organization,
    workspaceIds: await findVisibleIds(store, access, workspaceIds),
    projectIds: projects.flatMap((project) => project?.id ?? []),
  };
};

const loadWorkspaces = async (
  { store, workspaceContributions }: WorkspacesContext,
  access: VariableSetAccess,
  ids: readonly string[],
): Promise<readonly Resource[]> => {
  const found: WorkspaceAccessResult[] = [];
  for (const id of ids) {
    const workspace = await workspaceRecords.find(store, id);
    if (workspace === undefined) continue;
    const readable = await loadWorkspaceAccess(store, access, workspace);
    if (readable.permissions.canReadSettings) found.push(readable);
  }
  const sitePolicy = await findSitePolicyFor(store, found);
  return found.map((one) => toWorkspaceResource(workspaceContributions, one, sitePolicy));
};

/** The sets as the reader sees them, and the resources named in `include`, without duplicates. */
export const loadVariableSetDocument = async (
  context: WorkspacesContext,
  accesses: readonly VariableSetAccess[],
  include: ReadonlySet<string>,
): Promise<{ readonly data: readonly Resource[]; readonly included: readonly Resource[] }> => {
  const { store } = context;
  const data: Resource[] = [];
  const included = new Map<string, Resource>();
  for (const access of accesses) {
    const view = await loadView(context, access);
    data.push(toVariableSetResource(view));
    const related: Resource[] = [];
    if (include.has('vars')) {
      related.push(...(await loadSetVariables(store, access.set)).map(toSetVariableResource));
    }
    if (include.has('workspaces')) {
      related.push(...(await loadWorkspaces(context, access, view.workspaceIds)));
    }
    if (include.has('projects')) {
      for (const id of view.projectIds) {
        const project = await findReadableProject(store, access, id);
        if (project !== undefined) related.push(toProjectResource({ ...access, project }));
      }
    }
    for (const resource of related) included.set(resource.id, resource);
  }
  return { data, included: [...included.values()] };
};
