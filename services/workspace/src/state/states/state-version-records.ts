import type { Transaction } from '@keelson/storage';
import { keyedRecords } from '../../base/keyed-records.ts';
import type { StateVersion } from '../model/domain/state-version.ts';
import type { ModifiedInstance } from './domain/instance-changes.ts';
import type { StateSummary } from './domain/state-summary.ts';

/** Keyed by `sv-…`. */
export const stateVersionRecords = keyedRecords<StateVersion>('shared/state-versions/');

/** Summary of a version's state, keyed by `sv-…`. */
export const stateSummaries =
  keyedRecords<Pick<StateSummary, 'outputs' | 'resources'>>('shared/state-summaries/');

/** Instances that a version's state manages, and the version that last changed each; keyed by `sv-…`. */
export const stateInstances = keyedRecords<{ readonly instances: readonly ModifiedInstance[] }>(
  'shared/state-instances/',
);

/** Removes the records extracted from a state. */
export const deleteSummary = (tx: Transaction, id: string): void => {
  stateSummaries.delete(tx, id);
  stateInstances.delete(tx, id);
};

/** Deleted workspaces whose states are still to be removed, keyed by `ws-…`. */
export const removedWorkspaces = keyedRecords<Record<never, never>>('shared/removed-workspaces/');
