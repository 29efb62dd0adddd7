import { collection, type Reads, type Transaction } from '@keelson/storage';
import { storePart } from './divided-workspace.ts';
import {
  type Workspace,
  type WorkspaceConfiguration,
  workspaceConfigurationShape,
} from './domain/workspace.ts';

/** Current configurations, keyed by `ws-…`. An upload writes them, and not the workspace with its settings. */
export const workspaceConfigurations = collection('workspace-configurations', {
  scope: 'shared',
  version: 1,
  shape: workspaceConfigurationShape,
  owner: { kind: 'workspace', by: '*', isKey: true },
});

/**
 * @returns undefined before the first upload
 * @throws KeelsonError the same as `RecordCollection.find`
 */
export const findWorkspaceConfiguration = async (
  reads: Pick<Reads, 'readAs'>,
  { id, configuration }: Workspace,
): Promise<WorkspaceConfiguration | undefined> =>
  configuration ?? (await workspaceConfigurations.find(reads, id));

/** Stores which configuration is current. @returns see `storePart` */
export const storeWorkspaceConfiguration = (
  tx: Transaction,
  workspace: Workspace,
  configuration: WorkspaceConfiguration,
): Workspace => storePart(tx, workspace, 'configuration', workspaceConfigurations, configuration);
