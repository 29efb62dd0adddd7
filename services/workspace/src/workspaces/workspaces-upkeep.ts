/** Background work of this module: sends notifications. */
import type { PeriodicWork } from '@keelson/locks';
import { deliverNotifications } from './notifications/delivery-operations.ts';
import type { WorkspacesContext } from './seams/workspaces-context.ts';

/** Work by its name; each kind is done by one replica at a time, and pauses while sealed. */
export const workspacesUpkeep = (
  context: WorkspacesContext,
  { isSealed }: { readonly isSealed: () => boolean },
): Readonly<Record<string, PeriodicWork>> => ({
  notifications: {
    everyMs: 1000,
    round: async (options) => !isSealed() && deliverNotifications(context, options),
  },
});
