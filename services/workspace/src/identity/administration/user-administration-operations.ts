/** The accounts of a site, which its administrators manage. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { deleteOwned, type Reads, readableOnly, type Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { noteFormerAddress } from '../accounts/address-notice-operations.ts';
import { normalizedEmail } from '../model/domain/organization.ts';
import { organizationRecords } from '../model/organization-records.ts';
import { passkeyRecords, removePasskeysOf } from '../model/passkey-records.ts';
import { listOrganizationsOf, teamRecords } from '../model/team-records.ts';
import { findUserByEmail, type User, userRecords } from '../model/user-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { endInvitationLinksOf } from '../teams/invitation-operations.ts';
import { endMembership, findMemberIds } from '../teams/membership-operations.ts';
import { endConfirmation, endResets } from '../tokens/account-link-operations.ts';
import { endSessionsOf } from '../tokens/session-operations.ts';
import { removeSecondFactor } from '../two-factor/two-factor-operations.ts';
import {
  addUser,
  checkUser,
  refuseTakenEmail,
  requireFreeUsername,
  type UserInput,
} from '../users/user-operations.ts';

export interface ManagedUser {
  readonly user: User;
  /** Names of the organizations with a membership. */
  readonly organizations: readonly string[];
}

/** @throws KeelsonError `workspace.not_found` unless the caller is a site administrator at this moment */
export const requireSiteAdmin = async (
  reads: Reads,
  { kind, id, siteAdmin }: Principal,
): Promise<void> => {
  const user = kind === 'user' && siteAdmin ? await userRecords.find(reads, id) : undefined;
  if (user?.isSiteAdmin !== true || user.isSuspended === true) throw notFound('resource');
};

const withOrganizations = async (reads: Reads, user: User): Promise<ManagedUser> => {
  const ids = await listOrganizationsOf(reads, user.id);
  const found = await Promise.all(
    ids.map((id) => organizationRecords.find(readableOnly(reads), id)),
  );
  return { user, organizations: found.flatMap((organization) => organization?.name ?? []) };
};

export interface UserFilter {
  /** Part of the name or mail address, ignoring case. */
  readonly search: string;
  /** Undefined means both. */
  readonly isAdmin: boolean | undefined;
  readonly isSuspended: boolean | undefined;
}

export interface UserListing {
  readonly users: readonly User[];
  /** Counts of all users, whatever the filter. */
  readonly counts: { readonly total: number; readonly suspended: number; readonly admin: number };
}

const is = (wanted: boolean | undefined, value: boolean): boolean =>
  wanted === undefined || wanted === value;

/** All users, by name. */
export const listUsers = async (
  { store }: ServiceContext,
  principal: Principal,
  { search, isAdmin, isSuspended }: UserFilter,
): Promise<UserListing> => {
  await requireSiteAdmin(store, principal);
  const ids = await userRecords.keys(store, []);
  const found = await Promise.all(ids.map((id) => userRecords.find(readableOnly(store), id)));
  const all = found.filter((user) => user !== undefined);
  const text = search.toLowerCase();
  return {
    users: all
      .filter(
        (user) =>
          [user.username, user.email].some((part) => part.toLowerCase().includes(text)) &&
          is(isAdmin, user.isSiteAdmin) &&
          is(isSuspended, user.isSuspended === true),
      )
      .sort((a, b) => (a.username.toLowerCase() < b.username.toLowerCase() ? -1 : 1)),
    counts: {
      total: all.length,
      suspended: all.filter((user) => user.isSuspended === true).length,
      admin: all.filter((user) => user.isSiteAdmin).length,
    },
  };
};

export const loadManagedUsers = (
  { store }: ServiceContext,
  users: readonly User[],
): Promise<readonly ManagedUser[]> =>
  Promise.all(users.map((user) => withOrganizations(store, user)));

export const createUser = (
  { store, clock }: ServiceContext,
  principal: Principal,
  given: UserInput,
): Promise<ManagedUser> =>
  store.transact(async (tx) => {
    await requireSiteAdmin(tx, principal);
    return withOrganizations(tx, await addUser(tx, given, clock.nowMs()));
  });

const requireUser = async (reads: Reads, userId: string): Promise<User> => {
  const user = await userRecords.find(reads, userId);
  if (user === undefined) throw notFound('user');
  return user;
};

/** @throws KeelsonError `workspace.not_found` */
export const showUser = async (
  { store }: ServiceContext,
  principal: Principal,
  userId: string,
): Promise<ManagedUser> => {
  await requireSiteAdmin(store, principal);
  return withOrganizations(store, await requireUser(store, userId));
};

/** Whoever manages users keeps the own account and its rights, so that a site is never without administrators. */
const requireOther = (principal: Principal, { id }: User): void => {
  if (principal.id === id) {
    throw new KeelsonError('workspace.conflict', {
      text: 'an administrator cannot end the own account or its rights: another one does',
    });
  }
};

/** A user other than the site admin who asks. @throws KeelsonError `workspace.conflict` for the own account */
const requireOtherUser = async (
  tx: Transaction,
  principal: Principal,
  userId: string,
): Promise<User> => {
  await requireSiteAdmin(tx, principal);
  const user = await requireUser(tx, userId);
  requireOther(principal, user);
  return user;
};

export interface UserChange {
  readonly username?: string;
  readonly email?: string;
  readonly isSiteAdmin?: boolean;
}

/** Links were sent to the address, and open the account to whoever has it. */
const endLinksToFormerAddress = async (
  context: IdentityContext,
  tx: Transaction,
  user: User,
): Promise<void> => {
  await endResets(tx, user.id);
  if (user.isInvited === true) await endInvitationLinksOf(context, tx, user.id);
  else await noteFormerAddress(context, tx, user, 'changed');
};

/**
 * Changes an account. The address counts at once, as the administrator's statement.
 * @throws KeelsonError `jsonapi.invalid_attribute`, `workspace.conflict`, `workspace.not_found`
 */
export const changeUser = (
  context: IdentityContext,
  principal: Principal,
  userId: string,
  change: UserChange,
): Promise<ManagedUser> =>
  context.store.transact(async (tx) => {
    await requireSiteAdmin(tx, principal);
    const user = await requireUser(tx, userId);
    if (user.isSiteAdmin && change.isSiteAdmin === false) requireOther(principal, user);
    const { unconfirmedEmail, ...rest } = { ...user, ...change };
    checkUser(rest);
    const [before, after] = [user.username.toLowerCase(), rest.username.toLowerCase()];
    if (after !== before) await requireFreeUsername(tx, after);
    if (normalizedEmail(rest.email) !== normalizedEmail(user.email)) {
      if ((await findUserByEmail(tx, rest.email)) !== undefined) refuseTakenEmail();
      await endLinksToFormerAddress(context, tx, user);
    }
    const isStated = change.email !== undefined;
    if (isStated) await endConfirmation(tx, user);
    const next: User = {
      ...rest,
      ...(!isStated && unconfirmedEmail !== undefined && { unconfirmedEmail }),
    };
    await userRecords.write(tx, userId, next);
    return withOrganizations(tx, next);
  });

/**
 * Suspends a user, or ends the suspension.
 * @throws KeelsonError `request.invalid` when it is so already, `workspace.conflict` for the own account
 */
export const suspendUser = (
  { store }: ServiceContext,
  principal: Principal,
  userId: string,
  isSuspended: boolean,
): Promise<ManagedUser> =>
  store.transact(async (tx) => {
    const user = await requireOtherUser(tx, principal, userId);
    if ((user.isSuspended === true) === isSuspended) {
      const text = isSuspended ? 'the user is suspended already' : 'the user is not suspended';
      throw new KeelsonError('request.invalid', { text });
    }
    // The end of the suspension brings none of them back.
    if (isSuspended) await endSessionsOf(tx, userId);
    const next: User = { ...(await requireUser(tx, userId)), isSuspended };
    await userRecords.write(tx, userId, next);
    return withOrganizations(tx, next);
  });

/** Ends every session of a user, who may sign in again; those of the own account too. */
export const endUserSessions = (
  { store }: ServiceContext,
  principal: Principal,
  userId: string,
): Promise<ManagedUser> =>
  store.transact(async (tx) => {
    await requireSiteAdmin(tx, principal);
    await requireUser(tx, userId);
    await endSessionsOf(tx, userId);
    return withOrganizations(tx, await requireUser(tx, userId));
  });

/**
 * Ends the second factor of a user who has lost it. The password alone signs in from then on.
 * @throws KeelsonError `request.invalid` without one, `workspace.conflict` for the own account
 */
export const disableSecondFactor = (
  { store }: ServiceContext,
  principal: Principal,
  userId: string,
): Promise<ManagedUser> =>
  store.transact(async (tx) => {
    const user = await requireOtherUser(tx, principal, userId);
    if (user.hasSecondFactor !== true)
      throw new KeelsonError('request.invalid', {
        text: 'the user has no two-factor authentication',
      });
    return withOrganizations(tx, await removeSecondFactor(tx, user));
  });

/**
 * Removes all passkeys of a user, whose device somebody else may have, and ends every session.
 * @throws KeelsonError `request.invalid` without one, `workspace.conflict` for the own account
 */
export const removePasskeys = (
  { store }: ServiceContext,
  principal: Principal,
  userId: string,
): Promise<ManagedUser> =>
  store.transact(async (tx) => {
    await requireOtherUser(tx, principal, userId);
    if ((await passkeyRecords.by.userId.keys(tx, userId)).length === 0)
      throw new KeelsonError('request.invalid', { text: 'the user has no passkey' });
    await removePasskeysOf(tx, userId);
    await endSessionsOf(tx, userId);
    return withOrganizations(tx, await requireUser(tx, userId));
  });

/** @throws KeelsonError `workspace.conflict` naming the organizations that would be without an owner */
const requireOwnersWithout = async (tx: Transaction, userId: string): Promise<void> => {
  const orphaned: string[] = [];
  for (const organizationId of await listOrganizationsOf(tx, userId)) {
    const organization = await organizationRecords.find(tx, organizationId);
    const owners = organization && (await teamRecords.find(tx, organization.ownersTeamId));
    const ids = owners === undefined ? [] : await findMemberIds(tx, owners);
    if (organization !== undefined && ids.length === 1 && ids[0] === userId) {
      orphaned.push(organization.name);
    }
  }
  if (orphaned.length === 0) return;
  throw new KeelsonError('workspace.conflict', {
    text: `the user is the last owner of ${orphaned.join(', ')}: add another owner, or delete the organization`,
  });
};

/**
 * Deletes an account with everything personal: tokens, memberships, the place among the recipients of
 * notifications, names and addresses. What others own keeps the id, which names nobody any more.
 * @throws KeelsonError `workspace.conflict`, `workspace.not_found`
 */
export const eraseUser = (
  { store, organizationSteps }: IdentityContext,
  principal: Principal,
  userId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const user = await requireOtherUser(tx, principal, userId);
    await requireOwnersWithout(tx, userId);
    for (const step of organizationSteps) await step.onUserErased?.(tx, user);
    for (const organizationId of await listOrganizationsOf(tx, userId)) {
      await endMembership(tx, organizationId, userId);
    }
    await endConfirmation(tx, user);
    await deleteOwned(tx, { kind: 'user', id: userId });
    await userRecords.delete(tx, userId);
  });
