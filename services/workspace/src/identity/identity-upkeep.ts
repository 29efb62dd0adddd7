/** Background work of this module: sends mails with links, and removes what has ended. */
import type { PeriodicWork } from '@keelson/locks';
import { ADDRESS_NOTICES } from './accounts/address-notice-operations.ts';
import { CONFIRMATION_MAILS } from './accounts/email-confirmation-operations.ts';
import { removeExpiredCodes } from './command-logins/command-login-operations.ts';
import { sendMails } from './mails/link-mails.ts';
import { lockoutsOf } from './passwords/password-operations.ts';
import { PASSWORD_MAILS } from './passwords/password-reset-operations.ts';
import type { IdentityContext } from './seams/identity-context.ts';
import { removeUsedStates } from './single-sign-on/sso-login-operations.ts';
import { INVITATION_MAILS } from './teams/invitation-operations.ts';
import { removeUsesOfDeleted } from './tokens/token-use-operations.ts';

/** Background work by name. One replica at a time does each kind; it pauses while the service is sealed. */
export const identityUpkeep = (
  context: IdentityContext,
  { isSealed }: { readonly isSealed: () => boolean },
): Readonly<Record<string, PeriodicWork>> => ({
  invitations: {
    everyMs: 5000,
    round: async (options) => !isSealed() && sendMails(context, INVITATION_MAILS, options),
  },
  'email-confirmations': {
    everyMs: 5000,
    round: async (options) => !isSealed() && sendMails(context, CONFIRMATION_MAILS, options),
  },
  'address-notices': {
    everyMs: 5000,
    round: async (options) => !isSealed() && sendMails(context, ADDRESS_NOTICES, options),
  },
  'password-mails': {
    everyMs: 5000,
    round: async (options) => !isSealed() && sendMails(context, PASSWORD_MAILS, options),
  },
  'sign-in-lockouts': {
    everyMs: 3_600_000,
    round: async () => {
      if (!isSealed()) await lockoutsOf(context).tidy();
      return false;
    },
  },
  'sso-states': {
    everyMs: 3_600_000,
    round: async (options) => {
      if (!isSealed()) await removeUsedStates(context.store, context.clock.nowMs(), options);
      return false;
    },
  },
  'token-uses': {
    everyMs: 3_600_000,
    round: async (options) => {
      if (!isSealed()) await removeUsesOfDeleted(context.store, options);
      return false;
    },
  },
  'login-codes': {
    everyMs: 3_600_000,
    round: async (options) => {
      if (!isSealed()) await removeExpiredCodes(context.store, context.clock.nowMs(), options);
      return false;
    },
  },
});
