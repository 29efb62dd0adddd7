import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import { notFound } from '../access/access-operations.ts';
import { isEmail, type Organization } from '../organizations/domain/organization.ts';
import { findOrganizationByName } from '../organizations/organization-records.ts';
import type { ServiceContext } from '../service-context.ts';
import type { Team } from '../teams/domain/team.ts';
import { teamRecords } from '../teams/team-records.ts';
import { attributeViolation } from '../validation/domain/violation.ts';
import { storeUser, type User, usernames, userRecords } from './user-records.ts';

export interface GivenUser {
  readonly username: string;
  readonly email: string;
  readonly isSiteAdmin: boolean;
}

const USERNAME = /^[A-Za-z0-9_-]{2,60}$/;

const checkUser = ({ username, email }: Pick<GivenUser, 'username' | 'email'>): void =>
  refuseInvalid([
    ...(USERNAME.test(username)
      ? []
      : [attributeViolation('username', 'Username can only include letters, numbers, -, and _.')]),
    ...(isEmail(email) ? [] : [attributeViolation('email', 'Email is invalid')]),
  ]);

const requireFreeUsername = async (reads: Reads, key: string): Promise<void> => {
  if ((await usernames.find(reads, key)) !== undefined) {
    refuseInvalid([attributeViolation('username', 'Username has already been taken')]);
  }
};

/** Writes a new user. @throws KeelsonError `jsonapi.invalid_attribute` */
export const addUser = async (tx: Transaction, given: GivenUser, nowMs: number): Promise<User> => {
  checkUser(given);
  const key = given.username.toLowerCase();
  await requireFreeUsername(tx, key);
  const user: User = { id: newResourceId('user'), ...given, createdAtMs: nowMs };
  storeUser(tx, user, undefined);
  return user;
};

export const createUser = (
  { store, clock }: ServiceContext,
  principal: Principal,
  given: GivenUser,
): Promise<User> =>
  store.transact((tx) => {
    if (!principal.siteAdmin) throw notFound('resource');
    return addUser(tx, given, clock.nowMs());
  });

/** Changes the caller's own account, which only people have. */
export const updateAccount = (
  { store }: ServiceContext,
  principal: Principal,
  change: { readonly username?: string; readonly email?: string },
): Promise<User> =>
  store.transact(async (tx) => {
    const user = principal.kind === 'user' ? await userRecords.find(tx, principal.id) : undefined;
    if (user === undefined) throw notFound('account');
    const next = { ...user, ...change };
    checkUser(next);
    const [before, after] = [user.username.toLowerCase(), next.username.toLowerCase()];
    if (after !== before) await requireFreeUsername(tx, after);
    storeUser(tx, next, user);
    return next;
  });

/** Whom a token stands for. */
export type Account =
  | { readonly kind: 'user'; readonly user: User }
  | { readonly kind: 'team'; readonly team: Team }
  | { readonly kind: 'organization'; readonly organization: Organization };

/** The account behind the token; its owner may have gone since the request was identified. */
export const loadAccount = async (reads: Reads, principal: Principal): Promise<Account> => {
  if (principal.kind === 'team') {
    const team = await teamRecords.find(reads, principal.id);
    if (team !== undefined) return { kind: 'team', team };
  } else if (principal.kind === 'organization') {
    const organization = await findOrganizationByName(reads, principal.id);
    if (organization !== undefined) return { kind: 'organization', organization };
  } else {
    const user = await userRecords.find(reads, principal.id);
    if (user !== undefined) return { kind: 'user', user };
  }
  throw notFound('account');
};
