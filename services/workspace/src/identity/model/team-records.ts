import { keyedRecords } from '../../base/keyed-records.ts';
import type { Team } from './domain/team.ts';
import type { WaitingMail } from './waiting-mail.ts';

/** Keyed by `team-…`. */
export const teamRecords = keyedRecords<Team>('shared/teams/');

/** Organization id, name -> team id. */
export const teamNames = keyedRecords<{ readonly id: string }>('shared/team-names/');

/** A user's membership in one organization. */
export interface Membership {
  /** `ou-…`. */
  readonly id: string;
  readonly teamIds: readonly string[];
  readonly createdAtMs: number;
}

/** Keyed by organization id, user id. */
export const membershipRecords = keyedRecords<Membership>('shared/memberships/');

/** Membership id -> organization and user. */
export const membershipPlaces = keyedRecords<{
  readonly organizationId: string;
  readonly userId: string;
}>('shared/membership-places/');

/** Organizations of a user, keyed by user id, organization id. */
export const userOrganizations = keyedRecords<Record<never, never>>('shared/user-organizations/');

/** Organization id, user id of those who were invited by address and have made no request since. */
export const invitations = keyedRecords<{
  /** `user-…`; null where a token of the organization or a team invited. */
  readonly invitedById: string | null;
}>('shared/invitations/');

/** Membership id -> the mail that has not been sent. */
export const invitationMails = keyedRecords<WaitingMail>('shared/invitation-mails/');
