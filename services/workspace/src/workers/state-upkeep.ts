/**
 * Removes what no one will read again: broken-off uploads, states of removed workspaces, old states,
 * configurations and what runs left.
 */
import type { PeriodicWork } from '@keelson/locks';
import { applyConfigurationRetention } from '../configuration-versions/configuration-data-operations.ts';
import { applyRunDataRetention } from '../runs/run-data-operations.ts';
import type { ServiceContext } from '../service-context.ts';
import { applyRetention, removeStatesOfRemoved } from '../states/backing-data-operations.ts';
import { removeLooseContents } from '../states/state-content-operations.ts';

const MINUTE_MS = 60_000;

/** Work by its name; each kind is done by one replica at a time, and rests while sealed. */
export const stateUpkeep = (
  context: ServiceContext,
  { isSealed }: { readonly isSealed: () => boolean },
): Readonly<Record<string, PeriodicWork>> => ({
  // Policies count in days.
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
  'run-data-retention': {
    everyMs: 360 * MINUTE_MS,
    round: async (options) => {
      if (!isSealed()) await applyRunDataRetention(context, options);
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
