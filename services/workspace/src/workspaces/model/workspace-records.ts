import type { Reads } from '@keelson/storage';
import { keyedRecords } from '../../base/keyed-records.ts';
import type { Workspace } from './domain/workspace.ts';

/** Keyed by `ws-…`. */
export const workspaceRecords = keyedRecords<Workspace>('shared/workspaces/');

/** Organization id, name -> workspace id. */
export const workspaceNames = keyedRecords<{ readonly id: string }>('shared/workspace-names/');

/**
 * Workspaces of a project, keyed by project id, workspace id: a project with any is not deleted. A record is
 * rewritten when the workspace's bindings change, so that transactions watching it conflict.
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
