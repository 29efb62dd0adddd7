/** Variable sets with their included resources, as far as the reader may see them. */
import type { Resource } from '@keelson/jsonapi';
import { readableOnly } from '@keelson/storage';
import { IncludedResources } from '../../base/included-resources.ts';
import { seesWholeOrganization } from '../../identity/access/domain/caller-access.ts';
import { findReadableProject } from '../access/access-operations.ts';
import { findVisibleIds } from '../listing/visible-scope.ts';
import { loadRelatedProject } from '../projects/related-project.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { loadRelatedWorkspace } from '../workspaces/related-workspace.ts';
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
  const { set, organization, caller } = access;
  const { workspaceIds, projectIds } = set;
  if (seesWholeOrganization(caller)) return { set, organization, workspaceIds, projectIds };
  const projects = await Promise.all(
    projectIds.map((id) => findReadableProject(readableOnly(store), access, id)),
  );
  return {
    set,
    organization,
    workspaceIds: await findVisibleIds(store, access, workspaceIds),
    projectIds: projects.flatMap((project) => project?.id ?? []),
  };
};

/** The sets as the reader sees them, and the resources named in `include`, without duplicates. */
export const loadVariableSetDocument = async (
  context: WorkspacesContext,
  accesses: readonly VariableSetAccess[],
  include: ReadonlySet<string>,
): Promise<{ readonly data: readonly Resource[]; readonly included: readonly Resource[] }> => {
  const { store } = context;
  const data: Resource[] = [];
  const included = new IncludedResources();
  for (const access of accesses) {
    const view = await loadView(context, access);
    data.push(toVariableSetResource(view));
    if (include.has('vars')) {
      const variables = loadSetVariables(readableOnly(store), access.set);
      await included.add(variables.then((all) => all.map(toSetVariableResource)));
    }
    if (include.has('workspaces')) {
      for (const id of view.workspaceIds) {
        await included.add(loadRelatedWorkspace(context, access, id));
      }
    }
    if (include.has('projects')) {
      for (const id of view.projectIds) await included.add(loadRelatedProject(store, access, id));
    }
  }
  return { data, included: included.all };
};
