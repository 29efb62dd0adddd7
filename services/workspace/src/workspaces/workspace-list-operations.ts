import type { Page } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import {
  loadWorkspaceAccess,
  type OrganizationAccessResult,
  requireOrganization,
  type WorkspaceAccessResult,
} from '../access/access-operations.ts';
import { type Standing, seesWholeOrganization } from '../access/domain/standing.ts';
import { teamProjectGrants, teamWorkspaceGrants } from '../access/grant-records.ts';
import type { ServiceContext } from '../service-context.ts';
import type { GivenWorkspaceQuery } from './workspace-list-request.ts';
import type { RunStatusCounts, WorkspaceQuery } from './workspace-listing.ts';
import { workspaceRecords } from './workspace-records.ts';

/** What the caller may see: everything (undefined), or what its teams are granted. */
export const loadVisible = async (
  reads: Reads,
  standing: Standing,
): Promise<WorkspaceQuery['visible']> => {
  if (seesWholeOrganization(standing)) return undefined;
  const below = standing.teamIds;
  const [projectIds, workspaceIds] = await Promise.all([
    Promise.all(below.map((teamId) => teamProjectGrants.keys(reads, [teamId]))),
    Promise.all(below.map((teamId) => teamWorkspaceGrants.keys(reads, [teamId]))),
  ]);
  return { projectIds: projectIds.flat(), workspaceIds: workspaceIds.flat() };
};

/** The workspaces of the organization that the caller may see. */
export const loadScope = async (
  reads: Reads,
  { organization, standing }: OrganizationAccessResult,
): Promise<Pick<WorkspaceQuery, 'organizationId' | 'visible'>> => ({
  organizationId: organization.id,
  visible: await loadVisible(reads, standing),
});

/** Those of the workspaces that the caller may see. */
export const findVisibleIds = async (
  reads: Reads,
  owner: OrganizationAccessResult,
  ids: readonly string[],
): Promise<readonly string[]> => {
  const { organizationId, visible } = await loadScope(reads, owner);
  const found = await Promise.all(ids.map((id) => workspaceRecords.find(reads, id)));
  return found.flatMap((workspace) => {
    if (workspace?.organizationId !== organizationId) return [];
    const isVisible =
      visible === undefined ||
      visible.workspaceIds.includes(workspace.id) ||
      visible.projectIds.includes(workspace.projectId);
    return isVisible ? [workspace.id] : [];
  });
};

export interface WorkspacePage {
  readonly workspaces: readonly WorkspaceAccessResult[];
  readonly totalCount: number;
  /** All that the caller may see, without the request's filters. */
  readonly organizationCount: number;
  /** Of the same. */
  readonly runStatusCounts: RunStatusCounts;
}

const isUnfiltered = (given: GivenWorkspaceQuery): boolean =>
  given.nameContains === undefined &&
  given.nameWildcard === undefined &&
  given.projectId === undefined &&
  [given.tags, given.excludeTags, given.tagged, given.runStatuses].every(
    (list) => list.length === 0,
  );

export const listWorkspaces = async (
  context: ServiceContext,
  principal: Principal,
  organizationName: string,
  given: GivenWorkspaceQuery,
  page: Page,
): Promise<WorkspacePage> => {
  const { store, listing } = context;
  const owner = await requireOrganization(store, principal, organizationName);
  const scope = await loadScope(store, owner);
  const { ids, totalCount } = await listing.find({ ...given, ...scope, page });
  const found = await Promise.all(ids.map((id) => workspaceRecords.find(store, id)));
  const workspaces = await Promise.all(
    found
      // A workspace may go between the search and the read.
      .filter((workspace) => workspace !== undefined)
      .map((workspace) => loadWorkspaceAccess(store, owner, workspace)),
  );
  const [organizationCount, runStatusCounts] = await Promise.all([
    isUnfiltered(given) ? totalCount : listing.countVisible(scope),
    listing.countVisibleByRunStatus(scope),
  ]);
  return { workspaces, totalCount, organizationCount, runStatusCounts };
};
