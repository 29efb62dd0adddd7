/** Memberships of an organization as resources. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly, type Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { decideOrganizationPermissions } from '../access/domain/organization-permissions.ts';
import { findCallerAccess, requireOrganization } from '../access/organization-access-operations.ts';
import type { TeamAccessResult } from '../access/team-access.ts';
import type { Organization } from '../model/domain/organization.ts';
import { organizationRecords } from '../model/organization-records.ts';
import {
  findMembershipPlace,
  invitations,
  listOrganizationsOf,
  type Membership,
  membershipRecords,
  teamRecords,
} from '../model/team-records.ts';
import { type User, userRecords } from '../model/user-records.ts';
import { endMembership, findMemberIds } from './membership-operations.ts';

export const MEMBERSHIP_STATUSES = ['active', 'invited'] as const;

export interface MembershipView {
  readonly membership: Membership;
  readonly organization: Organization;
  readonly user: User;
  /**
   * A member who was invited by address is invited until the first request with one of its tokens, whether the
   * account is new or not: the status does not tell which addresses have accounts.
   */
  readonly status: (typeof MEMBERSHIP_STATUSES)[number];
}

export const loadMembershipView = async (
  reads: Reads,
  organization: Organization,
  userId: string,
): Promise<MembershipView | undefined> => {
  const membership = await membershipRecords.find(reads, organization.id, userId);
  const user = await userRecords.find(reads, userId);
  const invitation = await invitations.find(reads, organization.id, userId);
  const status = invitation === undefined ? 'active' : 'invited';
  return membership && user && { membership, organization, user, status };
};

const present = <T>(value: T | undefined): value is T => value !== undefined;

/** In order of user names. */
export const listMemberships = async (
  { store }: ServiceContext,
  principal: Principal,
  organizationName: string,
  filter: {
    readonly search: string | undefined;
    readonly emails: readonly string[];
    /** `active`, `invited`. An empty filter matches all. */
    readonly statuses: readonly string[];
  },
): Promise<readonly MembershipView[]> => {
  const { organization, caller } = await requireOrganization(store, principal, organizationName);
  if (!decideOrganizationPermissions(caller).canManageUsers) throw notFound('organization');
  const userIds = await membershipRecords.keys(store, [organization.id]);
  const views = await Promise.all(
    userIds.map((id) => loadMembershipView(readableOnly(store), organization, id)),
  );
  const search = filter.search?.toLowerCase() ?? '';
  const emails = filter.emails.map((email) => email.toLowerCase());
  return views
    .filter(present)
    .filter(
      ({ user, status }) =>
        [user.username, user.email].some((text) => text.toLowerCase().includes(search)) &&
        (emails.length === 0 || emails.includes(user.email.toLowerCase())) &&
        (filter.statuses.length === 0 || filter.statuses.includes(status)),
    )
    .sort((a, b) => (a.user.username < b.user.username ? -1 : 1));
};

/**
 * Members of a team; undefined unless the caller manages users, because memberships show email
 * addresses.
 */
export const listTeamMemberships = async (
  reads: Reads,
  { team, organization, caller }: TeamAccessResult,
): Promise<readonly MembershipView[] | undefined> => {
  if (!decideOrganizationPermissions(caller).canManageUsers) return undefined;
  const userIds = await findMemberIds(reads, team);
  const views = await Promise.all(
    userIds.map((id) => loadMembershipView(readableOnly(reads), organization, id)),
  );
  return views.filter(present);
};

/** The caller's own memberships. */
export const listOwnMemberships = async (
  { store }: ServiceContext,
  { kind, id }: Principal,
): Promise<readonly MembershipView[]> => {
  const organizationIds = kind === 'user' ? await listOrganizationsOf(store, id) : [];
  const views = await Promise.all(
    organizationIds.map(async (organizationId) => {
      const reads = readableOnly(store);
      const organization = await organizationRecords.find(reads, organizationId);
      return organization && loadMembershipView(reads, organization, id);
    }),
  );
  return views.filter(present);
};

/**
 * A membership of the caller, or one that it manages.
 * @throws KeelsonError `workspace.not_found`
 */
export const requireMembership = async (
  reads: Reads,
  principal: Principal,
  membershipId: string,
  needs: 'canRead' | 'canManage',
): Promise<MembershipView> => {
  const place = await findMembershipPlace(reads, membershipId);
  const organization = place && (await organizationRecords.find(reads, place.organizationId));
  const caller = organization && (await findCallerAccess(reads, principal, organization));
  const view =
    place && organization && (await loadMembershipView(reads, organization, place.userId));
  if (caller === undefined || view === undefined) throw notFound('organization membership');
  const isOwn = principal.kind === 'user' && principal.id === view.user.id;
  if (!decideOrganizationPermissions(caller).canManageUsers && !(isOwn && needs === 'canRead')) {
    throw notFound('organization membership');
  }
  return view;
};

const requireOwnersLeft = async (tx: Transaction, { ownersTeamId }: Organization) => {
  const owners = await teamRecords.find(tx, ownersTeamId);
  if (owners !== undefined && (await findMemberIds(tx, owners)).length === 0) {
    throw new KeelsonError('workspace.forbidden', {
      text: 'the last owner cannot be removed from the organization',
    });
  }
};

/** Ends a membership, or withdraws an invitation. Only an owner may remove an owner. */
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
    const caller = await findCallerAccess(tx, principal, organization);
    if (membership.teamIds.includes(organization.ownersTeamId) && caller?.isOwner !== true) {
      throw notFound('organization membership');
    }
    await endMembership(tx, organization.id, user.id);
    await requireOwnersLeft(tx, organization);
  });
