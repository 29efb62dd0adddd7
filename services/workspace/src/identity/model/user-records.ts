import { createHash } from 'node:crypto';
import type { Reads, Transaction } from '@keelson/storage';
import { keyedRecords } from '../../base/keyed-records.ts';
import { normalizedEmail } from './domain/organization.ts';

export interface User {
  /** `user-…`. */
  readonly id: string;
  readonly username: string;
  readonly email: string;
  /** Whether the user may create organizations and users. */
  readonly isSiteAdmin: boolean;
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

/** Digest of the lower-case address, user id: several users may share an address. */
const userEmails = keyedRecords<Record<never, never>>('shared/user-emails/');

/** Stores a user and indexes it by name and email address. */
export const storeUser = (tx: Transaction, user: User, before: User | undefined): void => {
  if (before !== undefined) {
    usernames.delete(tx, before.username.toLowerCase());
    userEmails.delete(tx, toEmailKey(before.email), before.id);
  }
  userRecords.write(tx, [user.id], user);
  usernames.write(tx, [user.username.toLowerCase()], { id: user.id });
  userEmails.write(tx, [toEmailKey(user.email), user.id], {});
};

/** Removes an account. The caller removes everything that belongs to it. */
export const removeUser = (tx: Transaction, user: User): void => {
  userRecords.delete(tx, user.id);
  usernames.delete(tx, user.username.toLowerCase());
  userEmails.delete(tx, toEmailKey(user.email), user.id);
};

/** At most two users with an email address: enough to know whether there is more than one. */
export const findUsersByEmail = async (reads: Reads, email: string): Promise<readonly User[]> => {
  const ids = await userEmails.keys(reads, [toEmailKey(email)], { limit: 2 });
  const users = await Promise.all(ids.map((id) => userRecords.find(reads, id)));
  return users.filter((user) => user !== undefined);
};
