/** Changes that a user makes to the own account. A mail address counts once it is confirmed. */
import { KeelsonError } from '@keelson/errors';
import { newResourceId } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import { obstacleToMail } from '../mails/link-mails.ts';
import { hasSignIn } from '../model/credential-records.ts';
import { normalizedEmail } from '../model/domain/organization.ts';
import {
  confirmationMails,
  emailConfirmations,
  type User,
  userRecords,
} from '../model/user-records.ts';
import { confirmed, type Proof, requireAccount } from '../passkeys/confirmed-change-operations.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { endConfirmation } from '../tokens/account-link-operations.ts';
import { checkUser, requireFreeUsername } from '../users/user-operations.ts';
import { noteFormerAddress } from './address-notice-operations.ts';

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

/** Whether two addresses are one mailbox, as far as their spelling tells. */
const isSame = (a: string, b: string): boolean => normalizedEmail(a) === normalizedEmail(b);

/** Whether a user would get another mailbox than it has, and than the one that waits for its confirmation. */
const isAnother = ({ email, unconfirmedEmail }: User, address: string): boolean =>
  !isSame(address, email) &&
  (unconfirmedEmail === undefined || !isSame(address, unconfirmedEmail.address));

/** The user with the address that it gives: another spelling counts at once, another mailbox later. */
const withEmail = async (
  context: IdentityContext,
  tx: Transaction,
  user: User,
  address: string,
): Promise<User> => {
  const waiting = user.unconfirmedEmail?.address;
  if (waiting !== undefined && isSame(address, waiting)) return user;
  await endConfirmation(tx, user);
  const { unconfirmedEmail: _, ...rest } = user;
  if (isSame(address, user.email)) return { ...rest, email: address };
  const confirmationId = newResourceId('uem');
  emailConfirmations.write(tx, [confirmationId], { userId: user.id });
  if (obstacleToMail(context) === undefined) {
    const dueAtMs = (user.confirmationMailedAtMs ?? -MAIL_PAUSE_MS) + MAIL_PAUSE_MS;
    confirmationMails.write(tx, [confirmationId], { attempts: 0, dueAtMs });
  }
  await noteFormerAddress(context, tx, user, 'asked');
  return { ...rest, unconfirmedEmail: { address, confirmationId } };
};

const change = async (
  context: IdentityContext,
  tx: Transaction,
  user: User,
  { username, email }: AccountChange,
): Promise<UpdatedAccount> => {
  const renamed: User = { ...user, ...(username !== undefined && { username }) };
  const [before, after] = [user.username.toLowerCase(), renamed.username.toLowerCase()];
  if (after !== before) await requireFreeUsername(tx, after);
  const next = email === undefined ? renamed : await withEmail(context, tx, renamed, email);
  await userRecords.write(tx, next.id, next);
  const isWaiting = email !== undefined && next.unconfirmedEmail !== undefined;
  const obstacle = obstacleToMail(context);
  const advice = 'a site administrator confirms the address with PATCH /admin/users/:user_id';
  return {
    user: next,
    warnings: isWaiting && obstacle !== undefined ? [`${obstacle}: ${advice}`] : [],
  };
};

/**
 * Changes the caller's own account. Only users have one. Whoever has the address gets links that open the account, so
 * that another one takes what a passkey takes, wherever people sign in; elsewhere, tokens open everything already.
 * @throws KeelsonError `jsonapi.invalid_attribute`, `workspace.not_found`, `workspace.forbidden`
 */
export const updateAccount = async (
  context: IdentityContext,
  principal: Principal,
  given: AccountChange & Proof,
): Promise<UpdatedAccount> => {
  const { store } = context;
  const { username, email } = given;
  const user = await requireAccount(store, principal);
  checkUser({ username: username ?? user.username, email: email ?? user.email });
  const needsProof = async (reads: Reads, current: User): Promise<boolean> =>
    email !== undefined && isAnother(current, email) && (await hasSignIn(reads));
  if (await needsProof(store, user))
    return confirmed(context, principal, 'the mail address is changed', given, (tx, current) =>
      change(context, tx, current, given),
    );
  return store.transact(async (tx) => {
    const current = await requireAccount(tx, principal);
    if (await needsProof(tx, current))
      throw new KeelsonError('workspace.conflict', { text: 'the account has changed meanwhile' });
    return change(context, tx, current, given);
  });
};
