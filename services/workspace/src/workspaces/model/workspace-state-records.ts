import { collection, type Reads, type Transaction } from '@keelson/storage';
import { storePart } from './divided-workspace.ts';
import type { Workspace } from './domain/workspace.ts';
import {
  initialState,
  stateOf,
  type WorkspaceState,
  workspaceStateShape,
} from './domain/workspace-state.ts';
import { workspaceRecords } from './workspace-records.ts';

/** Summaries of states, keyed by `ws-…`. An upload writes them, and not the workspace with its settings. */
export const workspaceStates = collection('workspace-states', {
  scope: 'shared',
  version: 1,
  shape: workspaceStateShape,
  owner: { kind: 'workspace', by: '*', isKey: true },
});

/** @throws KeelsonError the same as `RecordCollection.find` */
export const findWorkspaceState = async (
  reads: Pick<Reads, 'readAs'>,
  workspace: Workspace,
): Promise<WorkspaceState> => stateOf(workspace, await workspaceStates.find(reads, workspace.id));

/** Stores the summary. @returns see `storePart` */
export const storeWorkspaceState = (
  tx: Transaction,
  workspace: Workspace,
  state: WorkspaceState,
): Workspace =>
  storePart(tx, workspace, 'state', workspaceStates, state, initialState(workspace.createdAtMs));

/** Stores the summary, and the workspace if that changes by it. */
export const writeWorkspaceState = async (
  tx: Transaction,
  workspace: Workspace,
  state: WorkspaceState,
): Promise<void> => {
  const next = storeWorkspaceState(tx, workspace, state);
  if (next !== workspace) await workspaceRecords.write(tx, workspace.id, next);
};
