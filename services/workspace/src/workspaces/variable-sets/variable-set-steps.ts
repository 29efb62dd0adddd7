/** Changes of variable sets when their owner or a target is deleted. */
import type { Transaction } from '@keelson/storage';
import type { WorkspaceSteps } from '../seams/workspace-steps.ts';
import {
  loadSetsAppliedTo,
  loadVariableSets,
  organizationVariableSets,
  projectVariableSets,
  removeVariableSet,
  storeVariableSet,
} from './variable-set-records.ts';

const withdrawFrom = async (tx: Transaction, targetId: string): Promise<void> => {
  for (const set of await loadSetsAppliedTo(tx, [targetId])) {
    const next = {
      ...set,
      workspaceIds: set.workspaceIds.filter((id) => id !== targetId),
      projectIds: set.projectIds.filter((id) => id !== targetId),
    };
    storeVariableSet(tx, next, set);
  }
};

export const VARIABLE_SET_STEPS: WorkspaceSteps = {
  onWorkspaceRemoved: (tx, { id }) => withdrawFrom(tx, id),
  onProjectRemoved: async (tx, { id }) => {
    const owned = await loadVariableSets(tx, await projectVariableSets.keys(tx, [id]));
    for (const set of owned) removeVariableSet(tx, set);
    await withdrawFrom(tx, id);
  },
};

/** Removes the variable sets of a deleted organization. */
export const removeVariableSetsOf = async (
  tx: Transaction,
  organizationId: string,
): Promise<void> => {
  const ids = await organizationVariableSets.keys(tx, [organizationId]);
  for (const set of await loadVariableSets(tx, ids)) removeVariableSet(tx, set);
};
