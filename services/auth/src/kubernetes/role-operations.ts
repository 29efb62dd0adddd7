import { type MountScope, requireName } from '@keelson/engine';
import type { Reads, Store } from '@keelson/storage';
import {
  type KubernetesRole,
  NEW_KUBERNETES_ROLE,
  requireSoundRole,
} from './domain/kubernetes-role.ts';
import { roleRecords } from './kubernetes-records.ts';

/** Roles are found whatever the case of their names. */
const toRoleName = (given: string): string => requireName(given).toLowerCase();

export const findRole = (
  reads: Reads,
  mount: MountScope,
  name: string,
): Promise<KubernetesRole | undefined> => roleRecords(mount).find(reads, toRoleName(name));

/**
 * Creates or changes a role.
 * @param change applied to the role there is, or to a new one
 */
export const changeRole = (
  store: Store,
  mount: MountScope,
  givenName: string,
  change: (role: KubernetesRole) => KubernetesRole,
): Promise<KubernetesRole> =>
  store.transact(async (tx) => {
    const name = toRoleName(givenName);
    const before = await roleRecords(mount).find(tx, name);
    const role = requireSoundRole(change(before ?? NEW_KUBERNETES_ROLE));
    roleRecords(mount).write(tx, [name], role);
    return role;
  });

/** Nobody signs in with a deleted role, and tokens of its logins can no longer be renewed. */
export const deleteRole = (store: Store, mount: MountScope, name: string): Promise<void> =>
  store.transact((tx) => {
    roleRecords(mount).delete(tx, toRoleName(name));
    return Promise.resolve();
  });
