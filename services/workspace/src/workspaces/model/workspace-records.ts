import { collection, type Reads } from '@keelson/storage';
import { type Workspace, workspaceShape } from './domain/workspace.ts';
import { workspaceUpgrades } from './domain/workspace-upgrades.ts';

/**
 * Keyed by `ws-…`; names are unique in an organization. A project with any workspace is not deleted. "assessed" lists
 * the workspaces whose own settings enable assessments: the worker reads only these.
 */
export const workspaceRecords = collection('workspaces', {
  scope: 'shared',
  version: 4,
  shape: workspaceShape,
  upgrades: workspaceUpgrades,
  index: [
    {
      name: 'name',
      unique: true,
      rows: 'workspace-names',
      values: ({ organizationId, name }) => [[organizationId, name]],
    },
    { name: 'projectId', rows: 'project-workspaces', values: ({ projectId }) => [projectId] },
    {
      name: 'assessed',
      rows: 'assessed-workspaces',
      values: ({ settings }) => (settings.assessmentsEnabled ? [[]] : []),
    },
  ],
});

export const findWorkspaceByName = (
  reads: Reads,
  organizationId: string,
  name: string,
): Promise<Workspace | undefined> => workspaceRecords.by.name.find(reads, [organizationId, name]);
