import { readableOnly, type Transaction, unlessDamaged } from '@keelson/storage';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import {
  findWorkspaceConfiguration,
  storeWorkspaceConfiguration,
} from '../../workspaces/model/workspace-configuration-records.ts';
import { configurationVersionRecords, workspaceReadmes } from './configuration-version-records.ts';

/** The workspace after an apply of a configuration: a provisional configuration becomes current by it. */
export const withAppliedConfiguration = async (
  tx: Transaction,
  workspace: Workspace,
  id: string,
): Promise<Workspace> => {
  // A run ends whether or not the records of its configuration can be read.
  const current = await unlessDamaged(findWorkspaceConfiguration(tx, workspace));
  if (id === current?.currentId) return workspace;
  const reads = readableOnly(tx);
  if ((await configurationVersionRecords.find(reads, id))?.provisional !== true) return workspace;
  const readme = await workspaceReadmes.find(reads, id);
  workspaceReadmes.delete(tx, id);
  if (readme === undefined) workspaceReadmes.delete(tx, workspace.id);
  else workspaceReadmes.write(tx, [workspace.id], readme);
  return storeWorkspaceConfiguration(tx, workspace, {
    currentId: id,
    hasReadme: readme !== undefined,
  });
};
