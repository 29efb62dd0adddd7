/** The first use of an invited account, by a token of it or by the link of an invitation. */
import { hasCode } from '@keelson/errors';
import { deleteOwned, type Transaction } from '@keelson/storage';
import type { ServiceContext } from '../../base/service-context.ts';
import { invitations, listOrganizationsOf, membershipRecords } from '../model/team-records.ts';
import { type User, userRecords } from '../model/user-records.ts';

/** Accepts every invitation of the address, and ends their links. */
export const activateUser = async (tx: Transaction, user: User): Promise<void> => {
  const { isInvited: _, hasInvitation: __, ...active } = user;
  await userRecords.write(tx, user.id, active);
  for (const organizationId of await listOrganizationsOf(tx, user.id)) {
    invitations.delete(tx, organizationId, user.id);
    const membership = await membershipRecords.find(tx, organizationId, user.id);
    // The mail and the link of the invitation.
    if (membership !== undefined) await deleteOwned(tx, { kind: 'membership', id: membership.id });
  }
};

/**
 * The first request with a token of an invited user accepts every invitation of its address. A
 * cluster that follows another one cannot record this, and serves the request all the same.
 */
export const acceptInvitations = async (
  { store }: ServiceContext,
  userId: string,
): Promise<void> => {
  const isWaiting = (user: User | undefined): user is User =>
    user?.isInvited === true || user?.hasInvitation === true;
  if (!isWaiting(await userRecords.find(store, userId))) return;
  try {
    await store.transact(async (tx) => {
      const user = await userRecords.find(tx, userId);
      if (isWaiting(user)) await activateUser(tx, user);
    });
  } catch (error) {
    if (!hasCode(error, 'replication.read_only')) throw error;
  }
};
