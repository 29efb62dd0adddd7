import { type MountScope, requireName } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Reads, Store } from '@keelson/storage';
import { type JwtRole, NEW_JWT_ROLE, requireSoundRole } from './domain/jwt-role.ts';
import { roleRecords } from './jwt-records.ts';

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** Roles are found whatever the case of their names. */
const toRoleName = (given: string): string => requireName(given).toLowerCase();

export const findRole = (
  reads: Reads,
  mount: MountScope,
  name: string,
): Promise<JwtRole | undefined> => roleRecords(mount).find(reads, toRoleName(name));

/**
 * Creates or changes a role.
 * @param change applied to the role there is, or to a new one
 */
export const changeRole = (
  store: Store,
  mount: MountScope,
  givenName: string,
  change: (role: JwtRole) => JwtRole,
): Promise<void> =>
  store.transact(async (tx) => {
    const name = toRoleName(givenName);
    const before = await roleRecords(mount).find(tx, name);
    const role = change(before ?? NEW_JWT_ROLE);
    roleRecords(mount).write(tx, [name], requireSoundRole(role));
  });

/** Nobody signs in with a deleted role, and tokens of its logins can no longer be renewed. */
export const deleteRole = (store: Store, mount: MountScope, name: string): Promise<void> =>
  store.transact((tx) => {
    roleRecords(mount).delete(tx, toRoleName(name));
    return Promise.resolve();
  });

/** @throws KeelsonError `request.invalid` */
export const requireRole = async (
  reads: Reads,
  mount: MountScope,
  name: string,
): Promise<JwtRole> => {
  if (name === '') return refuse('missing role');
  return (await findRole(reads, mount, name)) ?? refuse(`role "${name}" could not be found`);
};
