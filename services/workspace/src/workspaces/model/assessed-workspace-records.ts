import type { Transaction } from '@keelson/storage';
import { keyedRecords } from '../../base/keyed-records.ts';
import type { Workspace } from './domain/workspace.ts';

/** Workspaces whose own settings enable assessments, keyed by `ws-…`. The worker reads only these. */
export const assessedWorkspaces = keyedRecords<Record<never, never>>('shared/assessed-workspaces/');

/** @param before undefined for a new workspace */
export const noteAssessed = (
  tx: Transaction,
  before: Workspace | undefined,
  { id, settings }: Workspace,
): void => {
  const was = before?.settings.assessmentsEnabled ?? false;
  if (settings.assessmentsEnabled === was) return;
  if (was) assessedWorkspaces.delete(tx, id);
  else assessedWorkspaces.write(tx, [id], {});
};
