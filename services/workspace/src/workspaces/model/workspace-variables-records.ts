import { collection, type Reads, type Transaction } from '@keelson/storage';
import { storePart } from './divided-workspace.ts';
import {
  NO_VARIABLES,
  type Workspace,
  type WorkspaceVariables,
  workspaceVariablesShape,
} from './domain/workspace.ts';
import { workspaceRecords } from './workspace-records.ts';

/** Ids of variables, keyed by `ws-…`. A new variable writes them, and not the workspace with its settings. */
export const workspaceVariables = collection('workspace-variables', {
  scope: 'shared',
  version: 1,
  shape: workspaceVariablesShape,
  owner: { kind: 'workspace', by: '*', isKey: true },
});

/** @throws KeelsonError the same as `RecordCollection.find` */
export const findWorkspaceVariables = async (
  reads: Pick<Reads, 'readAs'>,
  { id, variables }: Workspace,
): Promise<WorkspaceVariables> =>
  variables ?? (await workspaceVariables.find(reads, id)) ?? NO_VARIABLES;

/** Stores the ids, and the workspace if that changes by it. */
export const writeWorkspaceVariables = async (
  tx: Transaction,
  workspace: Workspace,
  ids: readonly string[],
): Promise<void> => {
  const next = storePart(tx, workspace, 'variables', workspaceVariables, { ids }, NO_VARIABLES);
  if (next !== workspace) await workspaceRecords.write(tx, workspace.id, next);
};
