/** Background work of this module: sends notifications. */
import type { PeriodicWork } from '@keelson/locks';
import { createNotificationRounds } from './notifications/delivery-operations.ts';
import type { WorkspacesContext } from './seams/workspaces-context.ts';

/** Background work by name. One replica at a time does each kind; it pauses while the service is sealed. */
export const workspacesUpkeep = (
  context: WorkspacesContext,
  { isSealed }: { readonly isSealed: () => boolean },
): Readonly<Record<string, PeriodicWork>> => {
  const sendDue = createNotificationRounds(context);
  return {
    notifications: {
      everyMs: 1000,
      round: async (options) => !isSealed() && sendDue(options),
    },
  };
};
