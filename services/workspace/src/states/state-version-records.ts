import { keyedRecords } from '../records/keyed-records.ts';
import type { StateSummary } from './domain/state-summary.ts';
import type { StateVersion } from './domain/state-version.ts';

/** Keyed by `sv-…`. */
export const stateVersionRecords = keyedRecords<StateVersion>('shared/state-versions/');

/** What was read out of a version's state, keyed by `sv-…`. */
export const stateSummaries =
  keyedRecords<Pick<StateSummary, 'outputs' | 'resources'>>('shared/state-summaries/');

/** Workspaces that are gone and whose states are still to be removed, keyed by `ws-…`. */
export const removedWorkspaces = keyedRecords<Record<never, never>>('shared/removed-workspaces/');
