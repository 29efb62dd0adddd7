/** Memberships of an organization as things of their own; a member is on at least one team. */
import { KeelsonError } from '@keelson/errors';
import { refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import { findStanding, notFound, requireOrganization } from '../access/access-operations.ts';
import type { Organization } from '../organizations/domain/organization.ts';
import { decideOrganizationPermissions } from '../organizations/domain/organization-permissions.ts';
import { organizationRecords } from '../organizations/organization-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { findMemberIds, joinTeam, leaveTeam } from '../teams/membership-operations.ts';
import { requireTeam, type TeamAccessResult } from '../teams/team-access.ts';
import {
  type Membership,
  membershipPlaces,
  membershipRecords,
  teamRecords,
  userOrganizations,
} from '../teams/team-records.ts';
import { findUserByEmail, type User, userRecords } from '../users/user-records.ts';
import { attributeViolation } from '../validation/domain/violation.ts';

export interface MembershipView {
  readonly membership: Membership;
  readonly organization: Organization;
  readonly user: User;
}

const loadView = async (
  reads: Reads,
  organization: Organization,
  userId: string,
): Promise<MembershipView | undefined> => {
  const membership = await membershipRecords.find(reads, organization.id, userId);
  const user = await userRecords.find(reads, userId);
  return membership && user && { membership, organization, user };
};

const present = <T>(value: T | undefined): value is T => value !== undefined;

/** By user name. */
export const listMemberships = async (
  { store }: ServiceContext,
  principal: Principal,
  organizationName: string,
  filter: {
    readonly search: string | undefined;
    readonly emails: readonly string[];
    /** None are all; every member is active, as nobody is invited. */
    readonly statuses: readonly string[];
  },
): Promise<readonly MembershipView[]> => {
  const { organization, standing } = await requireOrganization(store, principal, organizationName);
  if (!decideOrganizationPermissions(standing).canManageUsers) throw notFound('organization');
  if (filter.statuses.length > 0 && !filter.statuses.includes('active')) return [];
  const userIds = await membershipRecords.keys(store, [organization.id]);
  const views = await Promise.all(userIds.map((id) => loadView(store, organization, id)));
  const search = filter.search?.toLowerCase() ?? '';
  const emails = filter.emails.map((email) => email.toLowerCase());
  return views
    .filter(present)
    .filter(
      ({ user }) =>
        [user.username, user.email].some((text) => text.toLowerCase().includes(search)) &&
        (emails.length === 0 || emails.includes(user.email.toLowerCase())),
    )
    .sort((a, b) => (a.user.username < b.user.username ? -1 : 1));
};

/** Those on a team; undefined unless the caller manages the organization's users, as each shows an address. */
export const listTeamMemberships = async (
  reads: Reads,
  { team, organization, standing }: TeamAccessResult,
): Promise<readonly MembershipView[] | undefined> => {
  if (!decideOrganizationPermissions(standing).canManageUsers) return undefined;
  const userIds = await findMemberIds(reads, team);
  const views = await Promise.all(userIds.map((id) => loadView(reads, organization, id)));
  return views.filter(present);
};

/** The caller's own. */
export const listOwnMemberships = async (
  { store }: ServiceContext,
  { kind, id }: Principal,
): Promise<readonly MembershipView[]> => {
  const organizationIds = kind === 'user' ? await userOrganizations.keys(store, [id]) : [];
  const views = await Promise.all(
    organizationIds.map(async (organizationId) => {
      const organization = await organizationRecords.find(store, organizationId);
      return organization && loadView(store, organization, id);
    }),
  );
  return views.filter(present);
};

/** A membership that is the caller's own, or that it manages. @throws KeelsonError `workspace.not_found` */
export const requireMembership = async (
  reads: Reads,
  principal: Principal,
  membershipId: string,
  needs: 'canRead' | 'canManage',
): Promise<MembershipView> => {
  const place = await membershipPlaces.find(reads, membershipId);
  const organization = place && (await organizationRecords.find(reads, place.organizationId));
  const standing = organization && (await findStanding(reads, principal, organization));
  const view = place && organization && (await loadView(reads, organization, place.userId));
  if (standing === undefined || view === undefined) throw notFound('organization membership');
  const isOwn = principal.kind === 'user' && principal.id === view.user.id;
  if (!decideOrganizationPermissions(standing).canManageUsers && !(isOwn && needs === 'canRead')) {
    throw notFound('organization membership');
  }
  return view;
};

/** Makes a user, found by mail address, a member: on these teams, of which there is at least one. */
export const inviteMember = (
  { store, clock }: ServiceContext,
  principal: Principal,
  organizationName: string,
  email: string,
  teamIds: readonly string[],
): Promise<MembershipView> =>
  store.transact(async (tx) => {
    const owner = await requireOrganization(tx, principal, organizationName);
    const { organization, standing } = owner;
    if (!decideOrganizationPermissions(standing).canManageUsers) throw notFound('organization');
    const user = await findUserByEmail(tx, email);
    if (user === undefined) {
      refuseInvalid([attributeViolation('email', 'there is no one user with this address')]);
      throw notFound('user');
    }
    if ((await membershipRecords.find(tx, organization.id, user.id)) !== undefined) {
      refuseInvalid([attributeViolation('email', 'is a member already')]);
    }
    for (const teamId of teamIds) {
      const { team, canManageMembers } = await requireTeam(tx, principal, teamId);
      if (!canManageMembers || team.organizationId !== organization.id) throw notFound('team');
      await joinTeam(tx, organization.id, team.id, user.id, clock.nowMs());
    }
    const view = await loadView(tx, organization, user.id);
    if (view === undefined) throw notFound('organization membership');
    return view;
  });

const requireOwnersLeft = async (tx: Transaction, { ownersTeamId }: Organization) => {
  const owners = await teamRecords.find(tx, ownersTeamId);
  if (owners !== undefined && (await findMemberIds(tx, owners)).length === 0) {
    throw new KeelsonError('workspace.forbidden', {
      text: 'the last owner cannot be removed from the organization',
    });
  }
};

/** Takes a member off all teams. Only an owner removes an owner. */
export const deleteMembership = (
  { store }: ServiceContext,
  principal: Principal,
  membershipId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const { membership, organization, user } = await requireMembership(
      tx,
      principal,
      membershipId,
      'canManage',
    );
    const standing = await findStanding(tx, principal, organization);
    if (membership.teamIds.includes(organization.ownersTeamId) && standing?.isOwner !== true) {
      throw notFound('organization membership');
    }
    for (const teamId of membership.teamIds) {
      await leaveTeam(tx, organization.id, teamId, user.id);
    }
    await requireOwnersLeft(tx, organization);
  });
