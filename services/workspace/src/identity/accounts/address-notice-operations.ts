/** Mails that warn whoever has the address of an account, because another address opens the account to its owner. */
import type { Transaction } from '@keelson/storage';
import { type LinkMails, obstacleToMail } from '../mails/link-mails.ts';
import {
  addressNotices,
  type NoticeReason,
  toEmailKey,
  type User,
  userRecords,
} from '../model/user-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';

/** Has the present address of a user warned, where the installation sends mails. */
export const noteFormerAddress = async (
  context: IdentityContext,
  tx: Transaction,
  { id: userId, email: address }: Pick<User, 'id' | 'email'>,
  reason: NoticeReason,
): Promise<void> => {
  if (obstacleToMail(context) !== undefined) return;
  const waiting = { attempts: 0, dueAtMs: 0 };
  await addressNotices.write(tx, [`${toEmailKey(address)}-${reason}`], {
    ...waiting,
    userId,
    address,
    reason,
  });
};

const TEXTS: Readonly<
  Record<NoticeReason, { readonly subject: string; readonly text: readonly string[] }>
> = {
  asked: {
    subject: 'Another mail address for your account',
    text: [
      'is to have another mail address, which counts once the link is followed that was sent there.',
      'If you have not asked for it, sign out everywhere on the page of your account, or change your password:',
      'both end it. Then delete the API tokens that you do not know.',
    ],
  },
  changed: {
    subject: 'Your account has another mail address',
    text: [
      'has another mail address now, in place of this one.',
      'If you know nothing of it, ask an administrator of the site at once.',
    ],
  },
};

/** Mails to addresses that accounts have, or have had until now. */
export const ADDRESS_NOTICES: LinkMails = {
  waiting: addressNotices,
  findCause: async (reads, id) => (await addressNotices.find(reads, id))?.userId,
  prepare: async (tx, id, publicUrl) => {
    const notice = await addressNotices.find(tx, id);
    const user = notice && (await userRecords.find(tx, notice.userId));
    if (notice === undefined || user === undefined || user.isSuspended === true) return undefined;
    const { subject, text } = TEXTS[notice.reason];
    const [first, ...others] = text;
    return {
      codeId: undefined,
      mail: {
        to: [notice.address],
        subject,
        text: [`The account ${user.username} at ${publicUrl} ${first}`, ...others, ''].join('\n'),
      },
    };
  },
};
