/** Memberships of organizations and teams. A member of any team is a member of the organization. */
import { KeelsonError } from '@keelson/errors';
import { newResourceId } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { deleteOwned, type Reads, readableOnly, type Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { requireTeam } from '../access/team-access.ts';
import type { Organization } from '../model/domain/organization.ts';
import { OWNERS_TEAM_NAME, type Team } from '../model/domain/team.ts';
import { organizationRecords } from '../model/organization-records.ts';
import {
  findMembershipPlace,
  invitations,
  listOrganizationsOf,
  type Membership,
  membershipRecords,
  teamRecords,
} from '../model/team-records.ts';
import { findUserIdByName, userRecords } from '../model/user-records.ts';

/** Makes the user a member of the organization, without a team, unless it is a member already. */
export const joinOrganization = async (
  tx: Transaction,
  organizationId: string,
  userId: string,
  nowMs: number,
): Promise<Membership> => {
  const current = await membershipRecords.find(tx, organizationId, userId);
  if (current !== undefined) return current;
  const membership: Membership = { id: newResourceId('ou'), teamIds: [], createdAtMs: nowMs };
  await membershipRecords.write(tx, [organizationId, userId], membership);
  return membership;
};

export const joinTeam = async (
  tx: Transaction,
  organizationId: string,
  teamId: string,
  userId: string,
  nowMs: number,
): Promise<void> => {
  const membership = await joinOrganization(tx, organizationId, userId, nowMs);
  const teamIds = [...new Set([...membership.teamIds, teamId])];
  await membershipRecords.write(tx, [organizationId, userId], { ...membership, teamIds });
};

/** An account that an invitation created and nobody used ends with its last membership. */
export const endMembership = async (
  tx: Transaction,
  organizationId: string,
  userId: string,
): Promise<void> => {
  const membership = await membershipRecords.find(tx, organizationId, userId);
  if (membership === undefined) return;
  await membershipRecords.delete(tx, organizationId, userId);
  invitations.delete(tx, organizationId, userId);
  await deleteOwned(tx, { kind: 'membership', id: membership.id });
  const user = await userRecords.find(tx, userId);
  const others = await listOrganizationsOf(tx, userId, { limit: 1 });
  if (user?.isInvited !== true || others.length > 0) return;
  await deleteOwned(tx, { kind: 'user', id: userId });
  await userRecords.delete(tx, userId);
};

/** A user who leaves the last team leaves the organization, if the organization is set that way. */
export const leaveTeam = async (
  tx: Transaction,
  organization: Pick<Organization, 'id' | 'settings'>,
  teamId: string,
  userId: string,
): Promise<void> => {
  const current = await membershipRecords.find(tx, organization.id, userId);
  if (current === undefined || !current.teamIds.includes(teamId)) return;
  const teamIds = current.teamIds.filter((id) => id !== teamId);
  if (teamIds.length === 0 && organization.settings.membersLeaveWithLastTeam) {
    await endMembership(tx, organization.id, userId);
  } else {
    await membershipRecords.write(tx, [organization.id, userId], { ...current, teamIds });
  }
};

interface TeamMember {
  readonly userId: string;
  readonly membership: Membership;
}

/** Loads the members of a team. */
export const findTeamMembers = async (
  reads: Reads,
  { id, organizationId }: Team,
): Promise<readonly TeamMember[]> => {
  const userIds = await membershipRecords.keys(reads, [organizationId]);
  const memberships = await Promise.all(
    userIds.map((userId) => membershipRecords.find(readableOnly(reads), organizationId, userId)),
  );
  return userIds.flatMap((userId, at) => {
    const membership = memberships[at];
    return membership?.teamIds.includes(id) === true ? [{ userId, membership }] : [];
  });
};

/** Ids of the users on a team. */
export const findMemberIds = async (reads: Reads, team: Team): Promise<readonly string[]> =>
  (await findTeamMembers(reads, team)).map(({ userId }) => userId);

/** Removes a team with its memberships and tokens. */
export const removeTeam = async (tx: Transaction, team: Team): Promise<void> => {
  const organization = await organizationRecords.find(tx, team.organizationId);
  if (organization === undefined) throw notFound('organization');
  for (const userId of await findMemberIds(tx, team)) {
    await leaveTeam(tx, organization, team.id, userId);
  }
  await deleteOwned(tx, { kind: 'team', id: team.id });
  await teamRecords.delete(tx, team.id);
};

/** Ids of the users named in a request; `team` is the team they join or leave. */
export type FindUserIds = (
  reads: Reads,
  team: Team,
  principal: Principal,
) => Promise<readonly string[]>;

/**
 * Users by name or id: members of the organization, or any user for a site administrator. Other
 * callers invite people by email address, so that they do not learn which names exist.
 * @throws KeelsonError `request.invalid` for a user that does not exist or is no member
 */
export const byUserName =
  (names: readonly string[]): FindUserIds =>
  async (reads, { organizationId }, { siteAdmin }) => {
    const found = await Promise.all(
      names.map(async (name) => {
        const id =
          (await findUserIdByName(reads, name)) ?? (await userRecords.find(reads, name))?.id;
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

/**
 * Users by membership id.
 * @throws KeelsonError `request.invalid` for one of another organization or that does not exist
 */
export const byMembership =
  (membershipIds: readonly string[]): FindUserIds =>
  async (reads, { organizationId }) => {
    const places = await Promise.all(membershipIds.map((id) => findMembershipPlace(reads, id)));
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
    const { team, organization, canManageMembers } = await requireTeam(tx, principal, teamId);
    if (!canManageMembers) throw notFound('team');
    for (const userId of await findUserIds(tx, team, principal)) {
      await leaveTeam(tx, organization, team.id, userId);
    }
    if (team.name === OWNERS_TEAM_NAME && (await findMemberIds(tx, team)).length === 0) {
      throw new KeelsonError('workspace.forbidden', {
        text: 'the last owner cannot be removed from the owners team',
      });
    }
  });
