import { collection } from '@keelson/storage';
import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { teamShape } from './domain/team.ts';
import { waitingMailShape } from './waiting-mail.ts';

/** Keyed by `team-…`. */
export const teamRecords = collection('teams', { scope: 'shared', version: 1, shape: teamShape });

/** Organization id, name -> team id. */
export const teamNames = collection('team-names', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ id: Type.String() }),
});

/** A user's membership in one organization. */
export const membershipShape = Type.Object({
  /** `ou-…`. */
  id: Type.String(),
  teamIds: Type.Array(Type.String()),
  createdAtMs: Type.Number(),
});
export type Membership = Shaped<typeof membershipShape>;

/** Keyed by organization id, user id. */
export const membershipRecords = collection('memberships', {
  scope: 'shared',
  version: 1,
  shape: membershipShape,
});

/** Membership id -> organization and user. */
export const membershipPlaces = collection('membership-places', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ organizationId: Type.String(), userId: Type.String() }),
});

/** Organizations of a user, keyed by user id, organization id. */
export const userOrganizations = collection('user-organizations', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({}),
});

/** Organization id, user id of those who were invited by address and have made no request since. */
export const invitations = collection('invitations', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({
    /** `user-…`; null where a token of the organization or a team invited. */
    invitedById: nullable(Type.String()),
  }),
});

/** Membership id -> the mail that has not been sent. */
export const invitationMails = collection('invitation-mails', {
  scope: 'shared',
  version: 1,
  shape: waitingMailShape,
});
