/** Changes that a user makes to the own account. A mail address counts once it is confirmed. */
import { newResourceId } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { obstacleToMail } from '../mails/link-mails.ts';
import { normalizedEmail } from '../model/domain/organization.ts';
import {
  confirmationMails,
  emailConfirmations,
  type User,
  userRecords,
} from '../model/user-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { deleteTokensOf } from '../tokens/token-operations.ts';
import { checkUser, requireFreeUsername } from '../users/user-operations.ts';

/** Between two mails to addresses that one account gives: nobody mails many strangers in Keelson's name. */
const MAIL_PAUSE_MS = 600_000;

export interface AccountChange {
  readonly username?: string;
  readonly email?: string;
}

export interface UpdatedAccount {
  readonly user: User;
  /** Why no mail is sent; empty where one is, or none is needed. */
  readonly warnings: readonly string[];
}

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

/** Whether two addresses are one mailbox, as far as their spelling tells. */
const isSame = (a: string, b: string): boolean => normalizedEmail(a) === normalizedEmail(b);

/** The user with the address that it gives: another spelling counts at once, another mailbox later. */
const withEmail = async (
  tx: Transaction,
  user: User,
  address: string,
  canMail: boolean,
): Promise<User> => {
  const waiting = user.unconfirmedEmail?.address;
  if (waiting !== undefined && isSame(address, waiting)) return user;
  await endConfirmation(tx, user);
  const { unconfirmedEmail: _, ...rest } = user;
  if (isSame(address, user.email)) return { ...rest, email: address };
  const confirmationId = newResourceId('uem');
  emailConfirmations.write(tx, [confirmationId], { userId: user.id });
  if (canMail) {
    const dueAtMs = (user.confirmationMailedAtMs ?? -MAIL_PAUSE_MS) + MAIL_PAUSE_MS;
    confirmationMails.write(tx, [confirmationId], { attempts: 0, dueAtMs });
  }
  return { ...rest, unconfirmedEmail: { address, confirmationId } };
};

/**
 * Changes the caller's own account. Only users have one.
 * @throws KeelsonError `jsonapi.invalid_attribute`, `workspace.not_found`
 */
export const updateAccount = (
  context: IdentityContext,
  principal: Principal,
  { username, email }: AccountChange,
): Promise<UpdatedAccount> =>
  context.store.transact(async (tx) => {
    const user = principal.kind === 'user' ? await userRecords.find(tx, principal.id) : undefined;
    if (user === undefined) throw notFound('account');
    const renamed: User = { ...user, ...(username !== undefined && { username }) };
    checkUser({ username: renamed.username, email: email ?? renamed.email });
    const [before, after] = [user.username.toLowerCase(), renamed.username.toLowerCase()];
    if (after !== before) await requireFreeUsername(tx, after);
    const obstacle = obstacleToMail(context);
    const next =
      email === undefined ? renamed : await withEmail(tx, renamed, email, obstacle === undefined);
    await userRecords.write(tx, next.id, next);
    const isWaiting = email !== undefined && next.unconfirmedEmail !== undefined;
    const advice = 'a site administrator confirms the address with PATCH /admin/users/:user_id';
    return {
      user: next,
      warnings: isWaiting && obstacle !== undefined ? [`${obstacle}: ${advice}`] : [],
    };
  });
