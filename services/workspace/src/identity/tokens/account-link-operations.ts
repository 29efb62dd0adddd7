/** Links that are sent by mail to whoever has an account, and that end before their time. */
import type { Transaction } from '@keelson/storage';
import {
  confirmationMails,
  emailConfirmations,
  type User,
  userRecords,
} from '../model/user-records.ts';
import { deleteTokensOf, listTokensOf, removeToken } from './token-operations.ts';

/** Ends a confirmation with its link and the mail that may wait. The caller stores the user. */
export const endConfirmation = async (
  tx: Transaction,
  { unconfirmedEmail }: Pick<User, 'unconfirmedEmail'>,
): Promise<void> => {
  if (unconfirmedEmail === undefined) return;
  const { confirmationId } = unconfirmedEmail;
  emailConfirmations.delete(tx, confirmationId);
  confirmationMails.delete(tx, confirmationId);
  await deleteTokensOf(tx, confirmationId);
};

/** Ends the links for a new password, which are in the mailbox of the address that the user has had. */
export const endResets = async (tx: Transaction, userId: string): Promise<void> => {
  for (const { id } of await listTokensOf(tx, { kind: 'password-reset', id: userId }))
    await removeToken(tx, id);
};

/** Ends all links of a user, and gives up the address that waits for one: somebody else may have asked for them. */
export const endLinksOf = async (tx: Transaction, userId: string): Promise<void> => {
  await endResets(tx, userId);
  const user = await userRecords.find(tx, userId);
  if (user?.unconfirmedEmail === undefined) return;
  await endConfirmation(tx, user);
  const { unconfirmedEmail: _, ...rest } = user;
  await userRecords.write(tx, userId, rest);
};
