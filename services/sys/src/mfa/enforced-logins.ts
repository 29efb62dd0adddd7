/** Names in login enforcements. One that is mistyped would enforce nothing, and nobody would see it. */
import { KeelsonError } from '@keelson/errors';
import type { Transaction } from '@keelson/storage';
import { findEntityOrMerged } from '../identity/entity-records.ts';
import { findGroup } from '../identity/group-records.ts';
import { findEngineType } from '../mounts/engine-type-records.ts';
import { loadMountIndex } from '../mounts/mount-records.ts';
import type { NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import type { LoginEnforcement } from './domain/login-enforcement.ts';

const refuse = (parameter: string, what: string, given: string): never => {
  throw new KeelsonError('request.invalid', {
    text: `${parameter}: there is no ${what} "${given}" in the namespace or below it`,
  });
};

/** The namespace itself, then those below it: an enforcement holds in all of them. */
const namespacesBelow = (table: NamespaceTable, namespaceId: string): readonly string[] => {
  const below = [...table.all()].filter((one) =>
    table.lineageOf(one).some(({ id }) => id === namespaceId),
  );
  return [namespaceId, ...below.map(({ id }) => id).filter((id) => id !== namespaceId)];
};

const isFound = async (
  namespaceIds: readonly string[],
  find: (namespaceId: string) => Promise<unknown>,
): Promise<boolean> => {
  for (const id of namespaceIds) if ((await find(id)) !== undefined) return true;
  return false;
};

/** @throws KeelsonError `request.invalid` naming the parameter whose mount, type, group or entity there is not */
export const requireEnforcedLogins = async (
  tx: Transaction,
  table: NamespaceTable,
  namespaceId: string,
  named: Pick<LoginEnforcement, 'mountAccessors' | 'mountTypes' | 'groupIds' | 'entityIds'>,
): Promise<void> => {
  const namespaceIds = namespacesBelow(table, namespaceId);
  const mounts = (await loadMountIndex(tx)).all();
  const accessors = new Set<string>();
  for (const mount of mounts)
    if (mount.table === 'auth' && namespaceIds.includes(mount.namespaceId))
      accessors.add(mount.accessor);
  for (const accessor of named.mountAccessors)
    if (!accessors.has(accessor))
      refuse('auth_method_accessors', 'auth method with the accessor', accessor);
  for (const type of named.mountTypes)
    if ((await findEngineType(tx, type))?.isAuthMethod !== true)
      throw new KeelsonError('request.invalid', {
        text: `auth_method_types: there is no type of auth methods "${type}"`,
      });
  for (const id of named.groupIds)
    if (!(await isFound(namespaceIds, (namespace) => findGroup(tx, namespace, id))))
      refuse('identity_group_ids', 'group with the id', id);
  for (const id of named.entityIds)
    if (!(await isFound(namespaceIds, (namespace) => findEntityOrMerged(tx, namespace, id))))
      refuse('identity_entity_ids', 'entity with the id', id);
};
