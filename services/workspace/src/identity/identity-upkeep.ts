/** Background work of this module: sends invitations. */
import type { PeriodicWork } from '@keelson/locks';
import type { IdentityContext } from './seams/identity-context.ts';
import { sendInvitations } from './teams/invitation-operations.ts';

/** Background work by name. One replica at a time does each kind; it pauses while the service is sealed. */
export const identityUpkeep = (
  context: IdentityContext,
  { isSealed }: { readonly isSealed: () => boolean },
): Readonly<Record<string, PeriodicWork>> => ({
  invitations: {
    everyMs: 5000,
    round: async (options) => {
      if (!isSealed()) await sendInvitations(context, options);
      return false;
    },
  },
});
