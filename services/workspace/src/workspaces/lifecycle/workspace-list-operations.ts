import type { Page } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { readableOnly, unlessDamaged } from '@keelson/storage';
import { inPortions } from '../../base/in-portions.ts';
import { requireOrganization } from '../../identity/access/organization-access-operations.ts';
import { loadWorkspaceAccess, type WorkspaceAccessResult } from '../access/access-operations.ts';
import { loadScope } from '../listing/visible-scope.ts';
import type { WorkspaceQueryInput } from '../listing/workspace-list-request.ts';
import type { RunStatusCounts } from '../listing/workspace-listing.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';

export interface WorkspacePage {
  readonly workspaces: readonly WorkspaceAccessResult[];
  readonly totalCount: number;
  /** Number of workspaces that the caller may see, regardless of filters. */
  readonly organizationCount: number;
  /** Counts of the same workspaces. */
  readonly runStatusCounts: RunStatusCounts;
}

const isUnfiltered = (given: WorkspaceQueryInput): boolean =>
  given.nameContains === undefined &&
  given.nameWildcard === undefined &&
  given.projectId === undefined &&
  [given.tags, given.excludeTags, given.tagged, given.runStatuses].every(
    (list) => list.length === 0,
  );

export const listWorkspaces = async (
  context: WorkspacesContext,
  principal: Principal,
  organizationName: string,
  given: WorkspaceQueryInput,
  page: Page,
): Promise<WorkspacePage> => {
  const { store, listing } = context;
  const owner = await requireOrganization(store, principal, organizationName);
  const scope = await loadScope(store, owner);
  const { ids, totalCount } = await listing.find({ ...given, ...scope, page });
  const workspaces = await inPortions(ids, async (id) => {
    const found = await workspaceRecords.find(readableOnly(store), id);
    // A workspace may be deleted between the search and the read.
    return found && unlessDamaged(loadWorkspaceAccess(store, owner, found));
  });
  const [organizationCount, runStatusCounts] = await Promise.all([
    isUnfiltered(given) ? totalCount : listing.countVisible(scope),
    listing.countVisibleByRunStatus(scope),
  ]);
  return {
    workspaces: workspaces.filter((access) => access !== undefined),
    totalCount,
    organizationCount,
    runStatusCounts,
  };
};
