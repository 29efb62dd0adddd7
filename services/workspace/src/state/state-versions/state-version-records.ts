import { collection, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';
import { stateVersionShape } from '../model/domain/state-version.ts';
import { modifiedInstanceShape } from './domain/instance-changes.ts';
import { stateSummaryShape } from './domain/state-summary.ts';

/** Keyed by `sv-…`. */
export const stateVersionRecords = collection('state-versions', {
  scope: 'shared',
  version: 1,
  shape: stateVersionShape,
});

/** Summary of a version's state, keyed by `sv-…`. */
export const stateSummaries = collection('state-summaries', {
  scope: 'shared',
  version: 1,
  shape: Type.Pick(stateSummaryShape, ['outputs', 'resources']),
});

/** Instances that a version's state manages, and the version that last changed each; keyed by `sv-…`. */
export const stateInstances = collection('state-instances', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ instances: Type.Array(modifiedInstanceShape) }),
});

/** Removes the records extracted from a state. */
export const deleteSummary = (tx: Transaction, id: string): void => {
  stateSummaries.delete(tx, id);
  stateInstances.delete(tx, id);
};

/** Deleted workspaces whose states are still to be removed, keyed by `ws-…`. */
export const removedWorkspaces = collection('removed-workspaces', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({}),
});
