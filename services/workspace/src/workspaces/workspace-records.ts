import type { Reads } from '@keelson/storage';
import { keyedRecords } from '../records/keyed-records.ts';
import type { Workspace } from './domain/workspace.ts';

/** Keyed by `ws-…`. */
export const workspaceRecords = keyedRecords<Workspace>('shared/workspaces/');

/** Organization id, name -> workspace id. */
export const workspaceNames = keyedRecords<{ readonly id: string }>('shared/workspace-names/');

/**
 * Workspaces of a project, keyed by project id, workspace id: a project with any is not deleted. Written
 * again where what they bind changes, for transactions that watch it.
 */
export const projectWorkspaces = keyedRecords<Record<never, never>>('shared/project-workspaces/');

export const findWorkspaceByName = async (
  reads: Reads,
  organizationId: string,
  name: string,
): Promise<Workspace | undefined> => {
  const found = await workspaceNames.find(reads, organizationId, name);
  return found && workspaceRecords.find(reads, found.id);
};
