import type { Transaction } from '@keelson/storage';
import { keyedRecords } from '../records/keyed-records.ts';
import type { ModifiedInstance } from './domain/instance-changes.ts';
import type { StateSummary } from './domain/state-summary.ts';
import type { StateVersion } from './domain/state-version.ts';

/** Keyed by `sv-…`. */
export const stateVersionRecords = keyedRecords<StateVersion>('shared/state-versions/');

/** What was read out of a version's state, keyed by `sv-…`. */
export const stateSummaries =
  keyedRecords<Pick<StateSummary, 'outputs' | 'resources'>>('shared/state-summaries/');

/** Instances that a version's state manages, and which version changed each; keyed by `sv-…`. */
export const stateInstances = keyedRecords<{ readonly instances: readonly ModifiedInstance[] }>(
  'shared/state-instances/',
);

/** Forgets what was read out of a state. */
export const deleteSummary = (tx: Transaction, id: string): void => {
  stateSummaries.delete(tx, id);
  stateInstances.delete(tx, id);
};

/** Workspaces that are gone and whose states are still to be removed, keyed by `ws-…`. */
export const removedWorkspaces = keyedRecords<Record<never, never>>('shared/removed-workspaces/');
