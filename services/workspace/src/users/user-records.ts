import { createHash } from 'node:crypto';
import type { Reads, Transaction } from '@keelson/storage';
import { keyedRecords } from '../records/keyed-records.ts';

export interface User {
  /** `user-…`. */
  readonly id: string;
  readonly username: string;
  readonly email: string;
  /** May create organizations and users. */
  readonly isSiteAdmin: boolean;
  readonly createdAtMs: number;
}

export const userRecords = keyedRecords<User>('shared/users/');

/** Lower-case name -> id. */
export const usernames = keyedRecords<{ readonly id: string }>('shared/usernames/');

/** Addresses hold what a key may not. */
const toEmailKey = (email: string): string =>
  createHash('sha256').update(email.toLowerCase()).digest('hex');

/** Digest of the lower-case address, user id: an address may be several users'. */
const userEmails = keyedRecords<Record<never, never>>('shared/user-emails/');

/** Writes a user, found by name and address from then on. */
export const storeUser = (tx: Transaction, user: User, before: User | undefined): void => {
  if (before !== undefined) {
    usernames.delete(tx, before.username.toLowerCase());
    userEmails.delete(tx, toEmailKey(before.email), before.id);
  }
  userRecords.write(tx, [user.id], user);
  usernames.write(tx, [user.username.toLowerCase()], { id: user.id });
  userEmails.write(tx, [toEmailKey(user.email), user.id], {});
};

/** The user of an address; undefined also when there are several. */
export const findUserByEmail = async (reads: Reads, email: string): Promise<User | undefined> => {
  const [id, ...others] = await userEmails.keys(reads, [toEmailKey(email)], { limit: 2 });
  return id === undefined || others.length > 0 ? undefined : userRecords.find(reads, id);
};
