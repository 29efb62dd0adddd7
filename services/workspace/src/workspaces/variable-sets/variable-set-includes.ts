/** Variable sets with their included resources, as far as the reader may see them. */
import { type Includes, type Resource, type ResourceOf } from '@keelson/jsonapi';
import { readableOnly } from '@keelson/storage';
import { IncludedResources } from '../../base/included-resources.ts';
import { seesWholeOrganization } from '../../identity/access/domain/caller-access.ts';
import { findReadableProject } from '../access/access-operations.ts';
import { loadRelatedWorkspace } from '../lifecycle/related-workspace.ts';
import { findVisibleIds } from '../listing/visible-scope.ts';
import { loadRelatedProject } from '../projects/related-project.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import type { VariableSetAccess } from './variable-set-access-operations.ts';
import {
  toSetVariableResource,
  toVariableSetResource,
  type VARIABLE_SET,
  type VariableSetView,
} from './variable-set-document.ts';
import { loadSetVariables } from './variable-set-records.ts';

/** Names allowed in `include`. There are no stacks, so that none is ever included. */
export const VARIABLE_SET_INCLUDES: Includes = {
  vars: ['vars'],
  workspaces: ['workspaces'],
  projects: ['projects'],
  stacks: [],
};

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

type SetResource = ResourceOf<typeof VARIABLE_SET>;

/** The set as the reader sees it; adds the resources named in `include` to the included ones. */
const loadSet = async (
  context: WorkspacesContext,
  access: VariableSetAccess,
  include: ReadonlySet<string>,
  included: IncludedResources,
): Promise<SetResource> => {
  const { store } = context;
  const view = await loadView(context, access);
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
  return toVariableSetResource(view);
};

interface Loaded<Data> {
  readonly data: Data;
  /** Without duplicates. */
  readonly included: readonly Resource[];
}

export const loadVariableSet = async (
  context: WorkspacesContext,
  access: VariableSetAccess,
  include: ReadonlySet<string>,
): Promise<Loaded<SetResource>> => {
  const included = new IncludedResources();
  const data = await loadSet(context, access, include, included);
  return { data, included: included.all };
};

export const loadVariableSets = async (
  context: WorkspacesContext,
  accesses: readonly VariableSetAccess[],
  include: ReadonlySet<string>,
): Promise<Loaded<readonly SetResource[]>> => {
  const included = new IncludedResources();
  const data: SetResource[] = [];
  for (const access of accesses) data.push(await loadSet(context, access, include, included));
  return { data, included: included.all };
};
