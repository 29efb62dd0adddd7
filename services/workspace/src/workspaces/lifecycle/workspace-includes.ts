/** Resources that are included with workspaces. */
import { type Resource, withLinkage } from '@keelson/jsonapi';
import type { RequestHead } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly } from '@keelson/storage';
import { IncludedResources } from '../../base/included-resources.ts';
import { findSitePolicy } from '../../base/retention/retention-records.ts';
import { toSignedFor } from '../../base/signed-urls/signed-url-operations.ts';
import { decideTeamAccess, findVisibleTeam } from '../../identity/access/team-access.ts';
import { userRecords } from '../../identity/model/user-records.ts';
import { toOrganizationResource } from '../../identity/organizations/organization-document.ts';
import { toTeamResource } from '../../identity/teams/team-document.ts';
import { toUserResource } from '../../identity/users/user-document.ts';
import { findReadableProject, type WorkspaceAccessResult } from '../access/access-operations.ts';
import type { ShownWorkspace } from '../access/shown-workspace.ts';
import { toProjectResource } from '../projects/project-document.ts';
import type {
  LoadIncluded,
  WorkspaceContribution,
  WorkspaceInclude,
} from '../seams/workspace-contributions.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { toEffectiveBindingResources } from '../tags/tag-document.ts';
import { toVariableResource } from '../variables/variable-document.ts';
import { loadVariables } from '../variables/variable-operations.ts';

const loadProject = async (
  reads: Reads,
  access: WorkspaceAccessResult,
): Promise<readonly Resource[]> => {
  const { organization, workspace } = access;
  const project = await findReadableProject(reads, access, workspace.projectId);
  return project === undefined ? [] : [toProjectResource({ project, organization })];
};

const loadLockHolder = async (
  reads: Reads,
  access: ShownWorkspace,
): Promise<readonly Resource[]> => {
  const holder = access.locking.lock?.holder;
  if (holder?.kind === 'user') {
    const user = await userRecords.find(reads, holder.id);
    return user === undefined ? [] : [toUserResource(user)];
  }
  if (holder?.kind === 'team') {
    const team = await findVisibleTeam(reads, access, holder.id);
    const seen = team && decideTeamAccess(access, team);
    return seen === undefined ? [] : [await toTeamResource(reads, seen)];
  }
  return [];
};

/** A relationship that `include` may name although no resource belongs to it. */
const EMPTY: WorkspaceInclude = { types: [], prepare: () => async () => [] };

const EFFECTIVE_BINDINGS = 'effective_tag_bindings';

/** Resources that can be included without a later module. */
export const WORKSPACE_INCLUDES: WorkspaceContribution = {
  includes: {
    organization: {
      types: ['organizations'],
      isOpenToRuns: true,
      prepare: async ({ context }) => {
        const sitePolicy = await findSitePolicy(context.store);
        return async (access) => [toOrganizationResource(access, sitePolicy)];
      },
    },
    project: {
      types: ['projects'],
      prepare:
        ({ context }) =>
        (access) =>
          loadProject(context.store, access),
    },
    locked_by: {
      types: ['users', 'teams'],
      prepare:
        ({ context }) =>
        (access) =>
          loadLockHolder(context.store, access),
    },
    vars: {
      types: ['vars'],
      prepare:
        ({ context }) =>
        async ({ permissions, variables }) =>
          permissions.canReadVariable
            ? (await loadVariables(readableOnly(context.store), variables)).map(toVariableResource)
            : [],
    },
    [EFFECTIVE_BINDINGS]: {
      types: ['effective-tag-bindings'],
      prepare:
        () =>
        async ({ workspace, project }) =>
          toEffectiveBindingResources(workspace.tagBindings, project),
    },
    no_code_module_version: EMPTY,
  },
};

/** The workspace with relationships to the included resources, which are otherwise only links. */
export const withIncludedLinkage = <R extends Resource>(
  resource: R,
  include: ReadonlySet<string>,
  { workspace, project, caller }: WorkspaceAccessResult,
): R => {
  if (!include.has(EFFECTIVE_BINDINGS) || caller.kind === 'run') return resource;
  const ids = toEffectiveBindingResources(workspace.tagBindings, project).map(({ id }) => id);
  return withLinkage(resource, 'effective-tag-bindings', ids);
};

interface PreparedInclude {
  readonly isOpenToRuns: boolean;
  readonly load: LoadIncluded;
}

/** In the order of the request. */
const prepareIncludes = (
  context: WorkspacesContext,
  head: Pick<RequestHead, 'baseUrl' | 'principal'>,
  include: ReadonlySet<string>,
): Promise<readonly PreparedInclude[]> =>
  Promise.all(
    [...include]
      .flatMap((name) =>
        context.workspaceContributions.flatMap(({ includes }) => includes?.[name] ?? []),
      )
      .map(async ({ isOpenToRuns = false, prepare }) => ({
        isOpenToRuns,
        load: await prepare({ context, caller: toSignedFor(head) }),
      })),
  );

/** The resources named in `include`. */
export const loadIncluded = async (
  context: WorkspacesContext,
  head: Pick<RequestHead, 'baseUrl' | 'principal'>,
  include: ReadonlySet<string>,
  workspaces: readonly ShownWorkspace[],
): Promise<readonly Resource[]> => {
  const prepared = await prepareIncludes(context, head, include);
  const included = new IncludedResources();
  for (const access of workspaces) {
    for (const { isOpenToRuns, load } of prepared) {
      if (access.caller.kind === 'run' && !isOpenToRuns) continue;
      await included.add(load(access));
    }
  }
  return included.all;
};
