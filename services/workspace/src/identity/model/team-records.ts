import { hash } from 'node:crypto';
import {
  collection,
  type ListOptions,
  type Reads,
  readableOnly,
  rowContent,
} from '@keelson/storage';
import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { type Team, teamShape } from './domain/team.ts';
import { waitingMailShape } from './waiting-mail.ts';

/** Names of groups may have characters that a record key may not. */
const toGroupKey = (group: string): string => hash('sha256', group);

/** Keyed by `team-…`. "group" finds those whose members a provider of identities names. */
export const teamRecords = collection('teams', {
  scope: 'shared',
  version: 1,
  shape: teamShape,
  kind: 'team',
  owner: { kind: 'organization', by: 'organizationId' },
  index: [
    'organizationId',
    { name: 'name', values: ({ organizationId, name }) => [[organizationId, name]] },
    {
      name: 'group',
      values: ({ ssoTeamId }) => (ssoTeamId === null ? [] : [toGroupKey(ssoTeamId)]),
    },
  ],
});

/** Teams of every organization whose members are those of the group. */
export const findTeamsOfGroup = (reads: Reads, group: string): Promise<readonly Team[]> =>
  teamRecords.by.group.records(readableOnly(reads), toGroupKey(group));

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

/** The user and the organization of a membership. */
export interface MembershipPlace {
  readonly organizationId: string;
  readonly userId: string;
}

const toPlace = (key: string): MembershipPlace => {
  const [organizationId = '', userId = ''] = key.split('/');
  return { organizationId, userId };
};

const toKey = ({ organizationId, userId }: MembershipPlace): string =>
  `${organizationId}/${userId}`;

/** Keyed by organization id, user id. "userId" lists the organizations of a user. */
export const membershipRecords = collection('memberships', {
  scope: 'shared',
  version: 1,
  shape: membershipShape,
  index: [
    {
      name: 'id',
      unique: true,
      values: ({ id }) => [id],
      rows: {
        at: 'membership-places',
        content: rowContent(
          Type.Object({ organizationId: Type.String(), userId: Type.String() }),
          (_, key) => toPlace(key),
          toKey,
        ),
      },
    },
    {
      name: 'userId',
      values: (_, key) => [toPlace(key).userId],
      rows: {
        at: 'user-organizations',
        end: {
          of: (key) => toPlace(key).organizationId,
          toKey: (organizationId, [userId = '']) => toKey({ organizationId, userId }),
        },
      },
    },
  ],
});

export const findMembershipPlace = async (
  reads: Reads,
  membershipId: string,
): Promise<MembershipPlace | undefined> => {
  const key = await membershipRecords.by.id.findKey(reads, membershipId);
  return key === undefined ? undefined : toPlace(key);
};

/** Ids of the organizations of which a user is a member. */
export const listOrganizationsOf = (
  reads: Reads,
  userId: string,
  options?: ListOptions,
): Promise<readonly string[]> => membershipRecords.by.userId.keys(reads, userId, options);

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
  owner: { kind: 'membership', by: '*', isKey: true },
});
