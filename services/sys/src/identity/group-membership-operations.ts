/** The groups of an entity: those that have it as a member, and those that have one of these as a member. */
import type { Reads } from '@keelson/storage';
import type { Entity, EntityAlias } from './domain/entity.ts';
import type { Group } from './domain/group.ts';
import {
  findGroup,
  findGroupAliasByName,
  groupsWithEntity,
  groupsWithGroup,
} from './group-records.ts';

export interface Memberships {
  readonly direct: readonly Group[];
  /** Has no group of `direct`. */
  readonly inherited: readonly Group[];
}

/** The external groups that the methods of the entity have reported. */
const externalGroups = async (
  reads: Reads,
  aliases: readonly EntityAlias[],
): Promise<readonly Group[]> => {
  const found: Group[] = [];
  for (const { namespaceId, mountUuid, groups } of aliases)
    for (const name of groups) {
      const alias = await findGroupAliasByName(reads, namespaceId, mountUuid, name);
      const group = alias && (await findGroup(reads, namespaceId, alias.groupId));
      if (group !== undefined) found.push(group);
    }
  return found;
};

/** @param aliases of the entity */
export const findMemberships = async (
  reads: Reads,
  { namespaceId, id }: Pick<Entity, 'namespaceId' | 'id'>,
  aliases: readonly EntityAlias[],
): Promise<Memberships> => {
  const direct = new Map<string, Group>();
  for (const group of [
    ...(await groupsWithEntity(reads, namespaceId, id)),
    ...(await externalGroups(reads, aliases)),
  ])
    direct.set(group.id, group);
  const inherited = new Map<string, Group>();
  const open = [...direct.values()];
  for (let group = open.pop(); group !== undefined; group = open.pop())
    for (const parent of await groupsWithGroup(reads, group)) {
      if (direct.has(parent.id) || inherited.has(parent.id)) continue;
      inherited.set(parent.id, parent);
      open.push(parent);
    }
  return { direct: [...direct.values()], inherited: [...inherited.values()] };
};
