import { collection, type Reads } from '@keelson/storage';
import { Type } from 'typebox';
import { type Workspace, workspaceShape } from './domain/workspace.ts';
import { workspaceUpgrades } from './domain/workspace-upgrades.ts';

/** Keyed by `ws-…`. */
export const workspaceRecords = collection('workspaces', {
  scope: 'shared',
  version: 4,
  shape: workspaceShape,
  upgrades: workspaceUpgrades,
});

/** Organization id, name -> workspace id. */
export const workspaceNames = collection('workspace-names', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ id: Type.String() }),
});

/**
 * Workspaces of a project, keyed by project id, workspace id: a project with any is not deleted. A record is
 * rewritten when the workspace's bindings change, so that transactions watching it conflict.
 */
export const projectWorkspaces = collection('project-workspaces', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({}),
});

export const findWorkspaceByName = async (
  reads: Reads,
  organizationId: string,
  name: string,
): Promise<Workspace | undefined> => {
  const found = await workspaceNames.find(reads, organizationId, name);
  return found && workspaceRecords.find(reads, found.id);
};
