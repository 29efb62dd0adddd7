import type { Reads } from '@keelson/storage';
import { runRecords } from '../runs/run-records.ts';
import { consumerLists } from '../state-consumers/consumer-records.ts';
import type { Workspace } from '../workspaces/domain/workspace.ts';
import { workspaceRecords } from '../workspaces/workspace-records.ts';
import { decideRunPermissions } from './domain/run-access.ts';
import {
  decideWorkspacePermissions,
  type WorkspacePermissions,
} from './domain/workspace-permissions.ts';
import { NO_RIGHTS } from './domain/workspace-rights.ts';

const NOTHING = decideWorkspacePermissions({
  rights: NO_RIGHTS,
  isOwner: false,
  adminsMayForceDelete: false,
  allowDestroyPlan: false,
});

/** What a run may do with a workspace, its own or another; read anew with every request. */
export const loadRunPermissions = async (
  reads: Reads,
  runId: string,
  target: Workspace,
): Promise<WorkspacePermissions> => {
  const run = await runRecords.find(reads, runId);
  const own = run && (await workspaceRecords.find(reads, run.workspaceId));
  if (run === undefined || own === undefined) return NOTHING;
  const consumerIds = (await consumerLists.find(reads, target.id))?.workspaceIds ?? [];
  return decideRunPermissions({ run, projectId: own.projectId, target, consumerIds });
};
