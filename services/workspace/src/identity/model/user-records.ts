import { createHash } from 'node:crypto';
import { collection, type Reads, type Transaction } from '@keelson/storage';
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
  /** A suspended user has no token that works, and gets no mail. */
  isSuspended: Type.Optional(Type.Boolean()),
  /** Created by an invitation to an address, and not used since. */
  isInvited: Type.Optional(Type.Boolean()),
  /** Invited by address when the account existed already, and not used since. */
  hasInvitation: Type.Optional(Type.Boolean()),
  createdAtMs: Type.Number(),
});
export type User = Shaped<typeof userShape>;

export const userRecords = collection('users', { scope: 'shared', version: 1, shape: userShape });

/** Lower-case name -> id. */
export const usernames = collection('usernames', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ id: Type.String() }),
});

/** Keys are hashed because an email address may contain characters that a record key may not. */
const toEmailKey = (email: string): string =>
  createHash('sha256').update(normalizedEmail(email)).digest('hex');

/** Digest of the address in lower case -> id of the only user who has it. */
const userEmails = collection('user-emails', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ id: Type.String() }),
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

/** Stores a user and indexes it by name and email address. */
export const storeUser = (tx: Transaction, user: User, before: User | undefined): void => {
  if (before !== undefined) {
    usernames.delete(tx, before.username.toLowerCase());
    userEmails.delete(tx, toEmailKey(before.email));
  }
  userRecords.write(tx, [user.id], user);
  usernames.write(tx, [user.username.toLowerCase()], { id: user.id });
  userEmails.write(tx, [toEmailKey(user.email)], { id: user.id });
};

/** Removes an account. The caller removes everything that belongs to it. */
export const removeUser = (tx: Transaction, user: User): void => {
  userRecords.delete(tx, user.id);
  usernames.delete(tx, user.username.toLowerCase());
  userEmails.delete(tx, toEmailKey(user.email));
};

/** The user who has the address, in upper or lower case. */
export const findUserByEmail = async (reads: Reads, email: string): Promise<User | undefined> => {
  const found = await userEmails.find(reads, toEmailKey(email));
  return found && userRecords.find(reads, found.id);
};
