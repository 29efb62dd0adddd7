/** Creating, changing and deleting aliases of groups: the names by which methods report external groups. */
import { randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Transaction } from '@keelson/storage';
import { findAliasPlace, type MountPlace } from './alias-place.ts';
import { requireIdentityName } from './domain/entity.ts';
import type { GroupAlias } from './domain/group.ts';
import {
  deleteGroupAliasRecord,
  findAliasOfGroup,
  findGroup,
  findGroupAlias,
  findGroupAliasByName,
  listGroupAliases,
  writeGroupAlias,
} from './group-records.ts';
import type { IdentityContext } from './identity-context.ts';

/** Undefined values remain unchanged. */
export interface GroupAliasDraft {
  /** Names the alias to change; without it, the alias of the name and the mount is changed or created. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly mountAccessor: string | undefined;
  readonly groupId: string | undefined;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** The alias to change; undefined if it is a new one. */
const findNamed = async (
  tx: Transaction,
  namespaceId: string,
  { id, name }: GroupAliasDraft,
  mount: MountPlace | undefined,
): Promise<GroupAlias | undefined> => {
  if (id !== undefined)
    return (await findGroupAlias(tx, namespaceId, id)) ?? refuse('invalid group alias ID');
  return name === undefined || mount === undefined
    ? undefined
    : findGroupAliasByName(tx, namespaceId, mount.uuid, name);
};

const requireExternalGroup = async (
  tx: Transaction,
  { namespaceId, groupId, id }: GroupAlias,
): Promise<void> => {
  const group = (await findGroup(tx, namespaceId, groupId)) ?? refuse('invalid canonical ID');
  if (group.type !== 'external') refuse('alias can be set on external groups only');
  const other = await findAliasOfGroup(tx, group);
  if (other !== undefined && other.id !== id) refuse('the group has another alias');
};

/**
 * @throws KeelsonError `request.invalid` for unknown ids and accessors, mounts of one cluster alone, internal groups,
 *   and a second alias of a group
 */
export const putGroupAlias = async (
  context: IdentityContext,
  namespaceId: string,
  draft: GroupAliasDraft,
): Promise<GroupAlias> => {
  const { name, mountAccessor, groupId } = draft;
  const mount = await findAliasPlace(context, namespaceId, mountAccessor);
  return context.store.transact(async (tx) => {
    const nowMs = context.clock.nowMs();
    const before = await findNamed(tx, namespaceId, draft, mount);
    const former = before && { uuid: before.mountUuid, accessor: before.mountAccessor };
    const place = mount ?? former ?? refuse('missing mount_accessor');
    const alias: GroupAlias = {
      id: before?.id ?? randomUUID(),
      namespaceId,
      name: requireIdentityName('alias', name ?? before?.name ?? ''),
      mountUuid: place.uuid,
      mountAccessor: place.accessor,
      groupId: groupId ?? before?.groupId ?? refuse('missing canonical_id'),
      createdAtMs: before?.createdAtMs ?? nowMs,
      updatedAtMs: nowMs,
    };
    await requireExternalGroup(tx, alias);
    const namesake = await findGroupAliasByName(tx, namespaceId, alias.mountUuid, alias.name);
    if (namesake !== undefined && namesake.id !== alias.id)
      refuse('the mount has another alias with this name');
    await writeGroupAlias(tx, alias);
    return alias;
  });
};

export const readGroupAlias = (
  { store }: IdentityContext,
  namespaceId: string,
  id: string,
): Promise<GroupAlias | undefined> => findGroupAlias(store, namespaceId, id);

/** Succeeds when there is no such alias. The group loses its members, and remains. */
export const deleteGroupAlias = (
  { store }: IdentityContext,
  namespaceId: string,
  id: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const alias = await findGroupAlias(tx, namespaceId, id);
    if (alias !== undefined) await deleteGroupAliasRecord(tx, alias);
  });

/** All aliases of groups of a namespace, sorted by id. */
export const listAllGroupAliases = (
  { store }: IdentityContext,
  namespaceId: string,
): Promise<readonly GroupAlias[]> => listGroupAliases(store, namespaceId);
