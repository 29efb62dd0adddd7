/** The workspaces and projects that a caller may see, as the limit of its lists. */
import { type Reads, readableOnly } from '@keelson/storage';
import {
  type CallerAccess,
  seesWholeOrganization,
} from '../../identity/access/domain/caller-access.ts';
import type { OrganizationAccessResult } from '../../identity/access/organization-access-operations.ts';
import { teamProjectGrants, teamWorkspaceGrants } from '../access/grant-records.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import type { WorkspaceQuery } from './workspace-listing.ts';

/** The projects and workspaces granted to the caller's teams; undefined if the caller may see everything. */
export const loadVisible = async (
  reads: Reads,
  caller: CallerAccess,
): Promise<WorkspaceQuery['visible']> => {
  if (seesWholeOrganization(caller)) return undefined;
  const below = caller.teamIds;
  const [projectIds, workspaceIds] = await Promise.all([
    Promise.all(below.map((teamId) => teamProjectGrants.keys(reads, [teamId]))),
    Promise.all(below.map((teamId) => teamWorkspaceGrants.keys(reads, [teamId]))),
  ]);
  return { projectIds: projectIds.flat(), workspaceIds: workspaceIds.flat() };
};

/** The limit of the caller's lists in one organization. */
export const loadScope = async (
  reads: Reads,
  { organization, caller }: OrganizationAccessResult,
): Promise<Pick<WorkspaceQuery, 'organizationId' | 'visible'>> => ({
  organizationId: organization.id,
  visible: await loadVisible(reads, caller),
});

/** The given workspaces that the caller may see and that can be read. */
export const findVisibleIds = async (
  reads: Reads,
  owner: OrganizationAccessResult,
  ids: readonly string[],
): Promise<readonly string[]> => {
  const { organizationId, visible } = await loadScope(reads, owner);
  const found = await Promise.all(ids.map((id) => workspaceRecords.find(readableOnly(reads), id)));
  return found.flatMap((workspace) => {
    if (workspace?.organizationId !== organizationId) return [];
    const isVisible =
      visible === undefined ||
      visible.workspaceIds.includes(workspace.id) ||
      visible.projectIds.includes(workspace.projectId);
    return isVisible ? [workspace.id] : [];
  });
};
