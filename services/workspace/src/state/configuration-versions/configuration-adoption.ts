import { readableOnly, type Transaction } from '@keelson/storage';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import { configurationVersionRecords, workspaceReadmes } from './configuration-version-records.ts';

/** The workspace after an apply of a configuration: a provisional configuration becomes current by it. */
export const withAppliedConfiguration = async (
  tx: Transaction,
  workspace: Workspace,
  id: string,
): Promise<Workspace> => {
  if (id === workspace.currentConfigurationVersionId) return workspace;
  // A run ends whether or not the records of its configuration can be read.
  const reads = readableOnly(tx);
  if ((await configurationVersionRecords.find(reads, id))?.provisional !== true) return workspace;
  const readme = await workspaceReadmes.find(reads, id);
  workspaceReadmes.delete(tx, id);
  if (readme === undefined) workspaceReadmes.delete(tx, workspace.id);
  else workspaceReadmes.write(tx, [workspace.id], readme);
  return { ...workspace, currentConfigurationVersionId: id, hasReadme: readme !== undefined };
};
