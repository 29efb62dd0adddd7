import { collection, type Reads, type Transaction } from '@keelson/storage';
import { storePart } from './divided-workspace.ts';
import type { Workspace } from './domain/workspace.ts';
import {
  NO_RUNS,
  runsOf,
  type WorkspaceRuns,
  workspaceRunsShape,
} from './domain/workspace-runs.ts';

/** Summaries of runs, keyed by `ws-…`. A run writes them, and not the workspace with its settings. */
export const workspaceRuns = collection('workspace-runs', {
  scope: 'shared',
  version: 1,
  shape: workspaceRunsShape,
  owner: { kind: 'workspace', by: '*', isKey: true },
});

/** @throws KeelsonError the same as `RecordCollection.find` */
export const findWorkspaceRuns = async (
  reads: Pick<Reads, 'readAs'>,
  workspace: Workspace,
): Promise<WorkspaceRuns> => runsOf(workspace, await workspaceRuns.find(reads, workspace.id));

/** Stores the summary. @returns see `storePart` */
export const storeWorkspaceRuns = (
  tx: Transaction,
  workspace: Workspace,
  runs: WorkspaceRuns,
): Workspace => storePart(tx, workspace, 'runs', workspaceRuns, runs, NO_RUNS);
