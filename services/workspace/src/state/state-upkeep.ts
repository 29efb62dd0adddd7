/**
 * Background work: removes interrupted uploads, states of deleted workspaces, and states and configurations
 * that are due under a retention policy.
 */
import type { PeriodicWork } from '@keelson/locks';
import { applyConfigurationRetention } from './configuration-versions/configuration-data-operations.ts';
import { removeLooseContents } from './contents/state-content-operations.ts';
import type { StateContext } from './seams/state-context.ts';
import { applyRetention, removeStatesOfRemoved } from './state-versions/backing-data-operations.ts';

const MINUTE_MS = 60_000;

/** Tasks by name. Each runs on one replica at a time, and pauses while the cluster is sealed. */
export const stateUpkeep = (
  context: StateContext,
  { isSealed }: { readonly isSealed: () => boolean },
): Readonly<Record<string, PeriodicWork>> => ({
  // Policies count in days, so that a few rounds a day are enough.
  'state-retention': {
    everyMs: 360 * MINUTE_MS,
    round: async (options) => {
      if (!isSealed()) await applyRetention(context, options);
      return false;
    },
  },
  'configuration-retention': {
    everyMs: 360 * MINUTE_MS,
    round: async (options) => {
      if (!isSealed()) await applyConfigurationRetention(context, options);
      return false;
    },
  },
  'state-removal': {
    everyMs: 10 * MINUTE_MS,
    round: async (options) =>
      !isSealed() &&
      ((await removeStatesOfRemoved(context, options)) ||
        (await removeLooseContents(context, options))),
  },
});
