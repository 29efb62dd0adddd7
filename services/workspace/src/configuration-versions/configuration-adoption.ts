/** A provisional configuration becomes its workspace's with the apply of a run that has it. */
import type { Transaction } from '@keelson/storage';
import type { Run } from '../runs/domain/run.ts';
import type { Workspace } from '../workspaces/domain/workspace.ts';
import { configurationVersionRecords, workspaceReadmes } from './configuration-version-records.ts';

export const withAppliedConfiguration = async (
  tx: Transaction,
  workspace: Workspace,
  { status, configurationVersionId: id }: Run,
): Promise<Workspace> => {
  if (status !== 'applied' || id === workspace.currentConfigurationVersionId) return workspace;
  if ((await configurationVersionRecords.find(tx, id))?.provisional !== true) return workspace;
  const readme = await workspaceReadmes.find(tx, id);
  workspaceReadmes.delete(tx, id);
  if (readme === undefined) workspaceReadmes.delete(tx, workspace.id);
  else workspaceReadmes.write(tx, [workspace.id], readme);
  return { ...workspace, currentConfigurationVersionId: id, hasReadme: readme !== undefined };
};
