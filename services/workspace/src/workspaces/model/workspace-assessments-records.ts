import { collection, type Reads, type Transaction } from '@keelson/storage';
import { storePart } from './divided-workspace.ts';
import type { Workspace } from './domain/workspace.ts';
import {
  type WorkspaceAssessments,
  workspaceAssessmentsShape,
} from './domain/workspace-assessments.ts';

/** Summaries of health assessments, keyed by `ws-…`. An assessment writes them, and not the workspace. */
export const workspaceAssessments = collection('workspace-assessments', {
  scope: 'shared',
  version: 1,
  shape: workspaceAssessmentsShape,
  owner: { kind: 'workspace', by: '*', isKey: true },
});

/**
 * @returns undefined before the first assessment
 * @throws KeelsonError the same as `RecordCollection.find`
 */
export const findWorkspaceAssessments = async (
  reads: Pick<Reads, 'readAs'>,
  { id, assessments }: Workspace,
): Promise<WorkspaceAssessments | undefined> =>
  assessments ?? (await workspaceAssessments.find(reads, id));

/** Stores the summary. @returns see `storePart` */
export const storeWorkspaceAssessments = (
  tx: Transaction,
  workspace: Workspace,
  assessments: WorkspaceAssessments,
): Workspace => storePart(tx, workspace, 'assessments', workspaceAssessments, assessments);
