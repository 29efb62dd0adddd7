import { isName, type MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { type Reads, readableOnly, type Store } from '@keelson/storage';
import { loadAuthority } from '../issuers/issuer-records.ts';
import { checkRole, type Role } from './domain/role.ts';
import { roleRecords } from './role-records.ts';

export interface StoredRole {
  readonly role: Role;
  readonly warnings: readonly string[];
}

/** The role with this name; undefined if there is none. */
export const findRole = (
  reads: Reads,
  mount: MountScope,
  name: string,
): Promise<Role | undefined> =>
  isName(name) ? roleRecords(mount).find(reads, name) : Promise.resolve(undefined);

/** @throws KeelsonError `pki.role_not_found` */
export const requireRole = async (reads: Reads, mount: MountScope, name: string): Promise<Role> => {
  const role = await findRole(reads, mount, name);
  if (role === undefined) throw new KeelsonError('pki.role_not_found', { role: name });
  return role;
};

export interface StoreRoleRequest {
  readonly mount: MountScope;
  readonly mountMaxTtlSeconds: number;
  readonly name: string;
  /** The role to store, from the one there is. */
  readonly change: (existing: Role | undefined) => Role;
}

/** Creates or replaces a role. */
export const storeRole = (
  store: Store,
  { mount, mountMaxTtlSeconds, name, change }: StoreRoleRequest,
): Promise<StoredRole> =>
  store.transact(async (tx) => {
    const existing = await findRole(tx, mount, name);
    const checked = checkRole(change(existing), mountMaxTtlSeconds);
    roleRecords(mount).write(tx, name, checked.role);
    const { issuerRef } = checked.role;
    const issuer = (await loadAuthority(tx, mount)).findIssuer(issuerRef);
    // The issuer is looked for again at use: it may come later.
    const warning = `no issuer is known as ${issuerRef} yet: nothing can be issued under this role`;
    return issuer === undefined
      ? { ...checked, warnings: [...checked.warnings, warning] }
      : checked;
  });

export const deleteRole = (store: Store, mount: MountScope, name: string): Promise<void> =>
  store.transact((tx) => roleRecords(mount).delete(tx, name));

/** Roles searched for the name of an issuer; more than these are not worth a warning. */
const MAX_ROLES_SEARCHED = 1000;

/** Names of the roles whose issuer is given by one of these names or ids. */
export const rolesNaming = async (
  reads: Reads,
  mount: MountScope,
  references: readonly string[],
): Promise<readonly string[]> =>
  (await roleRecords(mount).entries(readableOnly(reads), { limit: MAX_ROLES_SEARCHED }))
    .filter(([, { issuerRef }]) => references.includes(issuerRef))
    .map(([name]) => name);
