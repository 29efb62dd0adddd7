import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { isEmail, type Organization } from '../model/domain/organization.ts';
import type { Team } from '../model/domain/team.ts';
import { findOrganizationByName } from '../model/organization-records.ts';
import { teamRecords } from '../model/team-records.ts';
import {
  findUserByEmail,
  findUserIdByName,
  type User,
  userRecords,
} from '../model/user-records.ts';
import { loadOwnPermissions, type OwnPermissions } from './own-permissions.ts';

export interface UserInput {
  readonly username: string;
  readonly email: string;
  readonly isSiteAdmin: boolean;
}

const USERNAME = /^[A-Za-z0-9_-]{2,60}$/;

/** @throws KeelsonError `jsonapi.invalid_attribute` */
export const checkUser = ({ username, email }: Pick<UserInput, 'username' | 'email'>): void =>
  refuseInvalid([
    ...(USERNAME.test(username)
      ? []
      : [attributeViolation('username', 'Username can only include letters, numbers, -, and _.')]),
    ...(isEmail(email) ? [] : [attributeViolation('email', 'Email is invalid')]),
  ]);

/** @throws KeelsonError `jsonapi.invalid_attribute` when another account has the name */
export const requireFreeUsername = async (reads: Reads, key: string): Promise<void> => {
  if ((await findUserIdByName(reads, key)) !== undefined) {
    refuseInvalid([attributeViolation('username', 'Username has already been taken')]);
  }
};

/** @throws KeelsonError `jsonapi.invalid_attribute` */
export const refuseTakenEmail = (): void =>
  refuseInvalid([
    attributeViolation(
      'email',
      'Email has already been taken: it is the address of another account',
    ),
  ]);

/**
 * Stores a new user. An account that an invitation created for the address becomes this user's.
 * @throws KeelsonError `jsonapi.invalid_attribute`
 */
export const addUser = async (tx: Transaction, given: UserInput, nowMs: number): Promise<User> => {
  checkUser(given);
  const known = await findUserByEmail(tx, given.email);
  const invited = known?.isInvited === true ? known : undefined;
  if (known !== invited) refuseTakenEmail();
  const key = given.username.toLowerCase();
  if (invited?.username.toLowerCase() !== key) await requireFreeUsername(tx, key);
  const created = invited ?? { id: newResourceId('user'), createdAtMs: nowMs };
  const user: User = { ...created, ...given };
  await userRecords.write(tx, user.id, user);
  return user;
};

/** Stores an account with a free name that is formed from the wanted one. */
const addNamed = async (
  tx: Transaction,
  wanted: string,
  given: Pick<User, 'email' | 'createdAtMs' | 'isInvited'>,
): Promise<User> => {
  const id = newResourceId('user');
  const name = wanted
    .replaceAll(/[^A-Za-z0-9_-]/g, '-')
    .slice(0, 40)
    .padEnd(2, '-');
  const isTaken = (await findUserIdByName(tx, name)) !== undefined;
  const username = isTaken ? `${name}-${id.slice(-9)}` : name;
  const user: User = { id, username, isSiteAdmin: false, ...given };
  await userRecords.write(tx, user.id, user);
  return user;
};

const localPartOf = (email: string): string => email.split('@', 1)[0] ?? '';

/** Stores an account for an address that is invited, with a name formed from the address. */
export const addInvitedUser = (tx: Transaction, email: string, nowMs: number): Promise<User> =>
  addNamed(tx, localPartOf(email), { email, isInvited: true, createdAtMs: nowMs });

/**
 * Stores an account for an address that is known to be the person's.
 * @param name from which that of the account is formed; "" for the address
 */
export const addNamedUser = (
  tx: Transaction,
  email: string,
  name: string,
  nowMs: number,
): Promise<User> =>
  addNamed(tx, localPartOf(name === '' ? email : name), { email, createdAtMs: nowMs });

/** The account of the caller's token. */
export type Account =
  | { readonly kind: 'user'; readonly user: User; readonly own: OwnPermissions }
  | { readonly kind: 'team'; readonly team: Team }
  | { readonly kind: 'organization'; readonly organization: Organization };

/** The owner may have been deleted since the request was authenticated. */
export const loadAccount = async (reads: Reads, principal: Principal): Promise<Account> => {
  if (principal.kind === 'team') {
    const team = await teamRecords.find(reads, principal.id);
    if (team !== undefined) return { kind: 'team', team };
  } else if (principal.kind === 'organization') {
    const organization = await findOrganizationByName(reads, principal.id);
    if (organization !== undefined) return { kind: 'organization', organization };
  } else {
    const user = await userRecords.find(reads, principal.id);
    if (user !== undefined)
      return { kind: 'user', user, own: await loadOwnPermissions(reads, principal) };
  }
  throw notFound('account');
};
