/** Who belongs to which team; being on any team is being a member of the organization. */
import { KeelsonError } from '@keelson/errors';
import { newResourceId } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import { notFound } from '../access/access-operations.ts';
import { grantPlaces, teamProjectGrants, teamWorkspaceGrants } from '../access/grant-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { deleteTokensOf } from '../tokens/token-operations.ts';
import { usernames, userRecords } from '../users/user-records.ts';
import { OWNERS_TEAM_NAME, type Team } from './domain/team.ts';
import { requireTeam } from './team-access.ts';
import {
  type Membership,
  membershipPlaces,
  membershipRecords,
  teamNames,
  teamRecords,
  userOrganizations,
} from './team-records.ts';

export const joinTeam = async (
  tx: Transaction,
  organizationId: string,
  teamId: string,
  userId: string,
  nowMs: number,
): Promise<void> => {
  const current = await membershipRecords.find(tx, organizationId, userId);
  const teamIds = new Set(current?.teamIds).add(teamId);
  const id = current?.id ?? newResourceId('ou');
  membershipPlaces.write(tx, [id], { organizationId, userId });
  membershipRecords.write(tx, [organizationId, userId], {
    id,
    teamIds: [...teamIds],
    createdAtMs: current?.createdAtMs ?? nowMs,
  });
  userOrganizations.write(tx, [userId, organizationId], {});
};

/** Leaving the last team is leaving the organization. */
export const leaveTeam = async (
  tx: Transaction,
  organizationId: string,
  teamId: string,
  userId: string,
): Promise<void> => {
  const current = await membershipRecords.find(tx, organizationId, userId);
  if (current === undefined) return;
  const teamIds = current.teamIds.filter((id) => id !== teamId);
  if (teamIds.length > 0) {
    membershipRecords.write(tx, [organizationId, userId], { ...current, teamIds });
    return;
  }
  membershipPlaces.delete(tx, current.id);
  membershipRecords.delete(tx, organizationId, userId);
  userOrganizations.delete(tx, userId, organizationId);
};

interface TeamMember {
  readonly userId: string;
  readonly membership: Membership;
}

/** Who is on a team. */
export const findTeamMembers = async (
  reads: Reads,
  { id, organizationId }: Team,
): Promise<readonly TeamMember[]> => {
  const userIds = await membershipRecords.keys(reads, [organizationId]);
  const memberships = await Promise.all(
    userIds.map((userId) => membershipRecords.find(reads, organizationId, userId)),
  );
  return userIds.flatMap((userId, at) => {
    const membership = memberships[at];
    return membership?.teamIds.includes(id) === true ? [{ userId, membership }] : [];
  });
};

/** Ids of the users on a team. */
export const findMemberIds = async (reads: Reads, team: Team): Promise<readonly string[]> =>
  (await findTeamMembers(reads, team)).map(({ userId }) => userId);

/** Removes a team with its members' places, its grants and its tokens. */
export const removeTeam = async (tx: Transaction, team: Team): Promise<void> => {
  for (const userId of await findMemberIds(tx, team)) {
    await leaveTeam(tx, team.organizationId, team.id, userId);
  }
  for (const grants of [teamWorkspaceGrants, teamProjectGrants]) {
    for (const targetId of await grants.keys(tx, [team.id])) {
      const grant = await grants.find(tx, team.id, targetId);
      if (grant !== undefined) grantPlaces.delete(tx, grant.id);
      grants.delete(tx, team.id, targetId);
    }
  }
  await deleteTokensOf(tx, team.id);
  teamNames.delete(tx, team.organizationId, team.name);
  teamRecords.delete(tx, team.id);
};

/** Ids of the users that a request of the principal names; `team` is the team they join or leave. */
export type FindUserIds = (
  reads: Reads,
  team: Team,
  principal: Principal,
) => Promise<readonly string[]>;

/**
 * Users by their names or ids: members of the organization, or anybody for a site administrator. Others
 * invite people by address, and do not learn which names exist.
 * @throws KeelsonError `request.invalid` for one that does not exist or is no member
 */
export const byUserName =
  (names: readonly string[]): FindUserIds =>
  async (reads, { organizationId }, { siteAdmin }) => {
    const found = await Promise.all(
      names.map(async (name) => {
        const byName = await usernames.find(reads, name.toLowerCase());
        const id = byName?.id ?? (await userRecords.find(reads, name))?.id;
        if (id === undefined || siteAdmin) return id;
        return (await membershipRecords.find(reads, organizationId, id)) && id;
      }),
    );
    return found.map((id, at) => {
      if (id !== undefined) return id;
      throw new KeelsonError('request.invalid', {
        text: siteAdmin
          ? `there is no user ${names[at] ?? ''}`
          : `there is no user ${names[at] ?? ''} in the organization; invite them by their mail address`,
      });
    });
  };

/** Members by their memberships. @throws KeelsonError `request.invalid` for one of another organization, or none */
export const byMembership =
  (membershipIds: readonly string[]): FindUserIds =>
  async (reads, { organizationId }) => {
    const places = await Promise.all(membershipIds.map((id) => membershipPlaces.find(reads, id)));
    return places.map((place, at) => {
      if (place?.organizationId === organizationId) return place.userId;
      throw new KeelsonError('request.invalid', {
        text: `there is no organization membership ${membershipIds[at] ?? ''}`,
      });
    });
  };

export const addTeamMembers = (
  { store, clock }: ServiceContext,
  principal: Principal,
  teamId: string,
  findUserIds: FindUserIds,
): Promise<void> =>
  store.transact(async (tx) => {
    const { team, canManageMembers } = await requireTeam(tx, principal, teamId);
    if (!canManageMembers) throw notFound('team');
    for (const userId of await findUserIds(tx, team, principal)) {
      await joinTeam(tx, team.organizationId, team.id, userId, clock.nowMs());
    }
  });

/** @throws KeelsonError `workspace.forbidden` when the owners team would be empty */
export const removeTeamMembers = (
  { store }: ServiceContext,
  principal: Principal,
  teamId: string,
  findUserIds: FindUserIds,
): Promise<void> =>
  store.transact(async (tx) => {
    const { team, canManageMembers } = await requireTeam(tx, principal, teamId);
    if (!canManageMembers) throw notFound('team');
    for (const userId of await findUserIds(tx, team, principal)) {
      await leaveTeam(tx, team.organizationId, team.id, userId);
    }
    if (team.name === OWNERS_TEAM_NAME && (await findMemberIds(tx, team)).length === 0) {
      throw new KeelsonError('workspace.forbidden', {
        text: 'the last owner cannot be removed from the owners team',
      });
    }
  });
