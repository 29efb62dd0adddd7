/** Changes of variable sets when a target is deleted. */
import type { Transaction } from '@keelson/storage';
import type { WorkspaceSteps } from '../seams/workspace-steps.ts';
import { loadSetsAppliedTo, variableSetRecords } from './variable-set-records.ts';

const withdrawFrom = async (tx: Transaction, targetId: string): Promise<void> => {
  for (const set of await loadSetsAppliedTo(tx, [targetId])) {
    const next = {
      ...set,
      workspaceIds: set.workspaceIds.filter((id) => id !== targetId),
      projectIds: set.projectIds.filter((id) => id !== targetId),
    };
    await variableSetRecords.write(tx, [set.id], next);
  }
};

export const VARIABLE_SET_STEPS: WorkspaceSteps = {
  onWorkspaceRemoved: (tx, { id }) => withdrawFrom(tx, id),
  onProjectRemoved: (tx, { id }) => withdrawFrom(tx, id),
};
