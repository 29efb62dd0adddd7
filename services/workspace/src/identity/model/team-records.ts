import { collection, type Reads, readableOnly } from '@keelson/storage';
import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { type Team, teamShape } from './domain/team.ts';
import { waitingMailShape } from './waiting-mail.ts';

/** Keyed by `team-…`. */
export const teamRecords = collection('teams', {
  scope: 'shared',
  version: 1,
  shape: teamShape,
  kind: 'team',
  owner: { kind: 'organization', by: 'organizationId' },
  index: [
    'organizationId',
    { name: 'name', values: ({ organizationId, name }) => [[organizationId, name]] },
  ],
});

/** Teams of an organization by name, without those that cannot be read. */
export const loadTeams = async (reads: Reads, organizationId: string): Promise<readonly Team[]> => {
  const teams = await teamRecords.by.organizationId.records(readableOnly(reads), organizationId);
  return teams.toSorted((a, b) => (a.name < b.name ? -1 : 1));
};

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
