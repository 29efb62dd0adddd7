import { createHash } from 'node:crypto';
import type { Reads, Transaction } from '@keelson/storage';
import { keyedRecords } from '../../base/keyed-records.ts';
import { normalizedEmail } from './domain/organization.ts';
import type { WaitingMail } from './waiting-mail.ts';

export interface User {
  /** `user-…`. */
  readonly id: string;
  readonly username: string;
  /** As an administrator or an invitation stated it, or as the user confirmed it. */
  readonly email: string;
  /** The address that the user has given instead; `email` counts until it is confirmed. */
  readonly unconfirmedEmail?: {
    readonly address: string;
    /** `uem-…`. */
    readonly confirmationId: string;
  };
  /** When an address that the user gave was last sent a mail. */
  readonly confirmationMailedAtMs?: number;
  /** Whether the user may create organizations and users. */
  readonly isSiteAdmin: boolean;
  /** A suspended user has no token that works, and gets no mail. */
  readonly isSuspended?: boolean;
  /** Created by an invitation to an address, and not used since. */
  readonly isInvited?: boolean;
  /** Invited by address when the account existed already, and not used since. */
  readonly hasInvitation?: boolean;
  readonly createdAtMs: number;
}

export const userRecords = keyedRecords<User>('shared/users/');

/** Lower-case name -> id. */
export const usernames = keyedRecords<{ readonly id: string }>('shared/usernames/');

/** Keys are hashed because an email address may contain characters that a record key may not. */
const toEmailKey = (email: string): string =>
  createHash('sha256').update(normalizedEmail(email)).digest('hex');

/** Digest of the address in lower case -> id of the only user who has it. */
const userEmails = keyedRecords<{ readonly id: string }>('shared/user-emails/');

/** Confirmation id -> the user whose `unconfirmedEmail` it confirms. */
export const emailConfirmations = keyedRecords<{ readonly userId: string }>(
  'shared/email-confirmations/',
);

/** Confirmation id -> the mail that has not been sent. */
export const confirmationMails = keyedRecords<WaitingMail>('shared/confirmation-mails/');

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
