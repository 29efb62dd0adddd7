import type { Resource } from '@keelson/jsonapi';
import { readableOnly } from '@keelson/storage';
import { findSitePolicyFor } from '../../base/retention/retention-records.ts';
import type { OrganizationAccessResult } from '../../identity/access/organization-access-operations.ts';
import { loadWorkspaceAccess, type WorkspaceAccessResult } from '../access/access-operations.ts';
import { loadShown } from '../access/shown-workspace.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { toWorkspaceResource } from './workspace-document.ts';

/** A workspace as a related resource; undefined where the caller may not read it. */
export const toRelatedWorkspace = async (
  { store, workspaceContributions }: WorkspacesContext,
  access: WorkspaceAccessResult,
): Promise<Resource | undefined> =>
  access.permissions.canReadSettings
    ? toWorkspaceResource(
        workspaceContributions,
        await loadShown(readableOnly(store), access),
        await findSitePolicyFor(store, [access]),
      )
    : undefined;

/** A workspace that another resource of its organization names; undefined where it is gone, too. */
export const loadRelatedWorkspace = async (
  context: WorkspacesContext,
  owner: OrganizationAccessResult,
  id: string,
): Promise<Resource | undefined> => {
  const workspace = await workspaceRecords.find(context.store, id);
  if (workspace === undefined) return undefined;
  return toRelatedWorkspace(context, await loadWorkspaceAccess(context.store, owner, workspace));
};
