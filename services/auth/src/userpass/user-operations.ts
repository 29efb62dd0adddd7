import { hashPassword, verifyPassword } from '@keelson/credentials';
import { type MountScope, requireName } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { isInBound } from '../logins/bound-networks.ts';
import { DEFAULT_TOKEN_SETTINGS, type TokenSettings } from '../logins/domain/token-settings.ts';
import { type LockoutContext, lockoutsAt } from '../logins/lockout-operations.ts';
import type { User } from './domain/user.ts';
import { userRecords } from './userpass-records.ts';

/** Users are found whatever the case of their names. */
export const toUserName = (given: string): string => requireName(given).toLowerCase();

export const findUser = (
  reads: Reads,
  mount: MountScope,
  name: string,
): Promise<User | undefined> => userRecords(mount).find(reads, toUserName(name));

/**
 * Creates or changes a user.
 * @param change undefined parts stay as they are; a new user needs a password
 * @throws KeelsonError `request.invalid`
 */
export const changeUser = async (
  { store }: LockoutContext,
  mount: MountScope,
  givenName: string,
  change: {
    readonly password?: string | undefined;
    readonly settings?: (before: TokenSettings) => TokenSettings;
    /** Refused if there is no such user. */
    readonly mustExist?: true;
  },
): Promise<void> => {
  const name = toUserName(givenName);
  const passwordHash =
    change.password === undefined ? undefined : await hashPassword(change.password);
  await store.transact(async (tx) => {
    const before = await userRecords(mount).find(tx, name);
    if (before === undefined && change.mustExist)
      throw new KeelsonError('request.not_found', { text: `user "${name}" does not exist` });
    const hash = passwordHash ?? before?.passwordHash;
    if (hash === undefined) throw new KeelsonError('request.invalid', { text: 'missing password' });
    const token = before?.token ?? DEFAULT_TOKEN_SETTINGS;
    userRecords(mount).write(tx, [name], {
      passwordHash: hash,
      token: change.settings?.(token) ?? token,
    });
  });
};

export const deleteUser = (
  context: LockoutContext,
  mount: Mount,
  givenName: string,
): Promise<void> =>
  context.store.transact((tx) => {
    const name = toUserName(givenName);
    userRecords(mount).delete(tx, name);
    lockoutsAt(context, mount).forget(tx, name);
    return Promise.resolve();
  });

/**
 * The user with this password; undefined also for an unknown one, so that the answer is that to a wrong password. From
 * outside of the user's networks every password is wrong; such attempts are counted apart from those of the user, who
 * could otherwise be locked by anybody.
 * @throws KeelsonError `sys.permission_denied` for a locked user
 */
export const verifyUser = async (
  context: LockoutContext,
  mount: Mount,
  givenName: string,
  { password, address }: { readonly password: string; readonly address: string },
): Promise<{ readonly name: string; readonly user: User } | undefined> => {
  const name = toUserName(givenName);
  const user = await findUser(context.store, mount, name);
  const isInside = user === undefined || isInBound(user.token.boundCidrs, address);
  const countedName = isInside ? name : `${name} (outside of token_bound_cidrs)`;
  return lockoutsAt(context, mount).verifyUnlessLocked(countedName, async () => {
    const isRight = await verifyPassword(user?.passwordHash, password);
    return isRight && isInside && user !== undefined ? { name, user } : undefined;
  });
};
