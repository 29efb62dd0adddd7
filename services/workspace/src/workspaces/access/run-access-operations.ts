import type { Reads } from '@keelson/storage';
import { consumerLists } from '../model/consumer-records.ts';
import type { Workspace } from '../model/domain/workspace.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import { decideRunPermissions } from './domain/run-access.ts';
import {
  decideWorkspacePermissions,
  type WorkspacePermissions,
} from './domain/workspace-permissions.ts';
import { NO_RIGHTS } from './domain/workspace-rights.ts';
import { runGrants } from './run-grant-records.ts';

const NOTHING = decideWorkspacePermissions({
  rights: NO_RIGHTS,
  isOwner: false,
  adminsMayForceDelete: false,
  allowDestroyPlan: false,
});

/** A run's permissions on its own or another workspace, determined again for every request. */
export const loadRunPermissions = async (
  reads: Reads,
  runId: string,
  target: Workspace,
): Promise<WorkspacePermissions> => {
  const grant = await runGrants.find(reads, runId);
  const own = grant && (await workspaceRecords.find(reads, grant.workspaceId));
  if (grant === undefined || own === undefined) return NOTHING;
  const consumerIds = (await consumerLists.find(reads, target.id))?.workspaceIds ?? [];
  return decideRunPermissions({ grant, projectId: own.projectId, target, consumerIds });
};
