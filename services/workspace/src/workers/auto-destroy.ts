/** Destroys workspaces whose time has come; one replica at a time, and not while sealed. */
import type { PeriodicWork } from '@keelson/locks';
import { destroyDueWorkspaces } from '../auto-destroy/auto-destroy-operations.ts';
import type { ServiceContext } from '../service-context.ts';

const MINUTE_MS = 60_000;

export const autoDestroy = (
  context: ServiceContext,
  { isSealed }: { readonly isSealed: () => boolean },
): Readonly<Record<string, PeriodicWork>> => ({
  'auto-destroy': {
    everyMs: MINUTE_MS,
    round: async (options) => !isSealed() && destroyDueWorkspaces(context, options),
  },
});
