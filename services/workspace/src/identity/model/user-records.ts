import { createHash } from 'node:crypto';
import { collection, type Reads } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { normalizedEmail } from './domain/organization.ts';
import { waitingMailShape } from './waiting-mail.ts';

export const userShape = Type.Object({
  /** `user-…`. */
  id: Type.String(),
  username: Type.String(),
  /** As an administrator or an invitation stated it, or as the user confirmed it. */
  email: Type.String(),
  /** The address that the user has given instead; `email` counts until it is confirmed. */
  unconfirmedEmail: Type.Optional(
    Type.Object({
      address: Type.String(),
      /** `uem-…`. */
      confirmationId: Type.String(),
    }),
  ),
  /** When an address that the user gave was last sent a mail. */
  confirmationMailedAtMs: Type.Optional(Type.Number()),
  /** Whether the user may create organizations and users. */
  isSiteAdmin: Type.Boolean(),
  /** Whether signing in with the password needs a second factor. */
  hasSecondFactor: Type.Optional(Type.Boolean()),
  /** Whether a provider of identities has signed the user in. */
  hasSingleSignOn: Type.Optional(Type.Boolean()),
  /** A suspended user has no token that works, and gets no mail. */
  isSuspended: Type.Optional(Type.Boolean()),
  /** Created by an invitation to an address, and not used since. */
  isInvited: Type.Optional(Type.Boolean()),
  /** Invited by address when the account existed already, and not used since. */
  hasInvitation: Type.Optional(Type.Boolean()),
  createdAtMs: Type.Number(),
});
export type User = Shaped<typeof userShape>;

/** Keys are hashed because an email address may contain characters that a record key may not. */
export const toEmailKey = (email: string): string =>
  createHash('sha256').update(normalizedEmail(email)).digest('hex');

/** Keyed by `user-…`; found by the name in lower case, and by the digest of the address in lower case. */
export const userRecords = collection('users', {
  scope: 'shared',
  version: 1,
  shape: userShape,
  index: [
    {
      name: 'username',
      unique: true,
      rows: 'usernames',
      values: ({ username }) => [username.toLowerCase()],
    },
    {
      name: 'email',
      unique: true,
      rows: 'user-emails',
      values: ({ email }) => [toEmailKey(email)],
    },
  ],
});

/** Confirmation id -> the user whose `unconfirmedEmail` it confirms. */
export const emailConfirmations = collection('email-confirmations', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ userId: Type.String() }),
});

/** Confirmation id -> the mail that has not been sent. */
export const confirmationMails = collection('confirmation-mails', {
  scope: 'shared',
  version: 1,
  shape: waitingMailShape,
});

/** Why a mail is sent to the address that an account has, or has had. */
export const noticeReasonShape = Type.Enum(['asked', 'changed']);
export type NoticeReason = Shaped<typeof noticeReasonShape>;

/** Digest of an address and the reason -> the mail that warns whoever has the address. */
export const addressNotices = collection('address-notices', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({
    ...waitingMailShape.properties,
    userId: Type.String(),
    address: Type.String(),
    reason: noticeReasonShape,
  }),
  owner: [{ kind: 'user', by: 'userId' }],
  index: ['userId'],
});

/** The user who has the address, in upper or lower case. */
export const findUserByEmail = (reads: Reads, email: string): Promise<User | undefined> =>
  userRecords.by.email.find(reads, toEmailKey(email));

/** Id of the user who has the name, in upper or lower case. */
export const findUserIdByName = (reads: Reads, name: string): Promise<string | undefined> =>
  userRecords.by.username.findKey(reads, name.toLowerCase());
