import { randomUUID } from 'node:crypto';
import type { MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Reads, RecordCollection, Store, Transaction } from '@keelson/storage';
import { toRoleName } from '../logins/role-name-operations.ts';
import { roleIdRecords, roleRecords, secretIdsOf } from './approle-records.ts';
import { type AppRole, newAppRole, requireConstraint } from './domain/app-role.ts';
import type { SecretId } from './domain/secret-id.ts';

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

export const findRole = (
  reads: Reads,
  mount: MountScope,
  name: string,
): Promise<AppRole | undefined> => roleRecords(mount).find(reads, toRoleName(name));

/** @throws KeelsonError `request.not_found` */
export const requireRole = async (
  reads: Reads,
  mount: MountScope,
  name: string,
): Promise<AppRole> => {
  const role = await findRole(reads, mount, name);
  if (role === undefined)
    throw new KeelsonError('request.not_found', { text: `role "${name}" does not exist` });
  return role;
};

/** Writes a role under its role id. @throws KeelsonError `request.invalid` when another role has the id */
const writeRole = async (
  tx: Transaction,
  mount: MountScope,
  name: string,
  role: AppRole,
  before: AppRole | undefined,
): Promise<void> => {
  if (before?.roleId !== role.roleId) {
    if ((await roleIdRecords(mount).find(tx, role.roleId)) !== undefined)
      refuse('role_id is in use by another role');
    if (before !== undefined) roleIdRecords(mount).delete(tx, before.roleId);
    roleIdRecords(mount).write(tx, [role.roleId], { name });
  }
  roleRecords(mount).write(tx, [name], role);
};

/**
 * Creates or changes a role.
 * @param change applied to the role there is, or to a new one
 */
export const changeRole = (
  store: Store,
  mount: MountScope,
  givenName: string,
  change: (role: AppRole, isNew: boolean) => AppRole,
): Promise<AppRole> =>
  store.transact(async (tx) => {
    const name = toRoleName(givenName);
    const before = await roleRecords(mount).find(tx, name);
    const changed = change(before ?? newAppRole(randomUUID(), randomUUID()), before === undefined);
    const role = requireConstraint(changed);
    await writeRole(tx, mount, name, role, before);
    return role;
  });

/** Secret ids that one transaction removes. */
const PORTION = 500;

/** Removes all secret ids of a role, in portions. */
export const removeSecretIds = async (
  store: Store,
  secretIds: RecordCollection<SecretId>,
): Promise<void> => {
  for (;;) {
    const removed = await store.transact(async (tx) => {
      const accessors = await secretIds.keys(tx, [], { limit: PORTION });
      for (const accessor of accessors) secretIds.delete(tx, accessor);
      return accessors.length;
    });
    if (removed < PORTION) return;
  }
};

/** Deletes a role. Nobody signs in with it from then on; its secret ids follow. */
export const deleteRole = async (
  store: Store,
  mount: MountScope,
  givenName: string,
): Promise<void> => {
  const name = toRoleName(givenName);
  const role = await store.transact(async (tx) => {
    const found = await roleRecords(mount).find(tx, name);
    if (found === undefined) return undefined;
    roleRecords(mount).delete(tx, name);
    roleIdRecords(mount).delete(tx, found.roleId);
    return found;
  });
  if (role !== undefined) await removeSecretIds(store, secretIdsOf(mount, role));
};
