/** The confirmation of a mail address, which the link of a mail opens. */
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { issueCode, LINK_DAYS, type LinkMails } from '../mails/link-mails.ts';
import type { ApiToken } from '../model/domain/token.ts';
import { findToken } from '../model/token-records.ts';
import {
  confirmationMails,
  emailConfirmations,
  findUserByEmail,
  type User,
  userRecords,
} from '../model/user-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { endConfirmation, endResets } from '../tokens/account-link-operations.ts';
import { refuseTakenEmail } from '../users/user-operations.ts';
import { noteFormerAddress } from './address-notice-operations.ts';

interface Unconfirmed {
  readonly user: User;
  readonly address: string;
}

/** Undefined when the user has given another address since. */
const findUnconfirmed = async (reads: Reads, id: string): Promise<Unconfirmed | undefined> => {
  const found = await emailConfirmations.find(reads, id);
  const user = found && (await userRecords.find(reads, found.userId));
  const waiting = user?.unconfirmedEmail;
  return user && waiting?.confirmationId === id ? { user, address: waiting.address } : undefined;
};

export interface EmailConfirmationView extends Unconfirmed {
  readonly id: string;
  readonly code: ApiToken;
}

/**
 * The confirmation whose link the caller has followed.
 * @throws KeelsonError `workspace.not_found` for every other caller, and for an address that was confirmed
 */
export const requireEmailConfirmation = async (
  reads: Reads,
  { kind, id, tokenId }: Principal,
): Promise<EmailConfirmationView> => {
  const code = kind === 'email-confirmation' ? await findToken(reads, tokenId) : undefined;
  const found = code && (await findUnconfirmed(reads, id));
  if (found === undefined || code === undefined) throw notFound('email confirmation');
  return { ...found, id, code };
};

/**
 * Makes the address that of the account, and ends the link, and those for a new password at the former address.
 * @throws KeelsonError `jsonapi.invalid_attribute` when it has become the address of another account
 */
export const confirmEmail = (context: IdentityContext, principal: Principal): Promise<void> =>
  context.store.transact(async (tx) => {
    const { user, address } = await requireEmailConfirmation(tx, principal);
    if ((await findUserByEmail(tx, address)) !== undefined) refuseTakenEmail();
    await endConfirmation(tx, user);
    await endResets(tx, user.id);
    await noteFormerAddress(context, tx, user, 'changed');
    const { unconfirmedEmail: _, ...rest } = user;
    await userRecords.write(tx, user.id, { ...rest, email: address });
  });

/** Mails to addresses that users have given, by confirmation. */
export const CONFIRMATION_MAILS: LinkMails = {
  waiting: confirmationMails,
  findCause: async (reads, id) => (await emailConfirmations.find(reads, id))?.userId,
  prepare: async (tx, id, publicUrl, nowMs) => {
    const found = await findUnconfirmed(tx, id);
    if (found === undefined) return undefined;
    const { token, text } = await issueCode(tx, { kind: 'email-confirmation', id }, nowMs);
    return {
      codeId: token.id,
      mail: {
        to: [found.address],
        subject: 'Confirm your mail address',
        text: [
          `The account ${found.user.username} at ${publicUrl} says that this is its mail address.`,
          'If the account is yours, confirm the address; otherwise ignore this mail.',
          '',
          `The link works once, within ${LINK_DAYS} days:`,
          '',
          // After "#", so that neither servers nor proxies on the way see or log the code.
          `${publicUrl}/app/confirm-email#${text}`,
          '',
        ].join('\n'),
      },
    };
  },
  onSent: async (tx, id, nowMs) => {
    const found = await emailConfirmations.find(tx, id);
    const user = found && (await userRecords.find(tx, found.userId));
    if (user === undefined) return;
    await userRecords.write(tx, user.id, { ...user, confirmationMailedAtMs: nowMs });
  },
};
