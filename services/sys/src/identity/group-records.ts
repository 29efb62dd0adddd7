/** Records of groups and their aliases. Paths contain digests of names, as those of entities do. */
import { collection, type Reads, type RecordIndex, type Transaction } from '@keelson/storage';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import { type Group, type GroupAlias, groupAliasShape, groupShape } from './domain/group.ts';
import { digestOf, isUuid } from './entity-records.ts';

const nameValue = (name: string): string => digestOf(name.toLowerCase());

/** Keys are `<namespace id>/<id>`. */
const groups = collection('identity-groups', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: groupShape,
  owner: OF_NAMESPACE,
  index: [
    { name: 'name', values: ({ name }) => [nameValue(name)], unique: true, ofOwner: true },
    { name: 'entity', values: ({ memberEntityIds }) => memberEntityIds, ofOwner: true },
    { name: 'group', values: ({ memberGroupIds }) => memberGroupIds, ofOwner: true },
  ],
});

/** Keys are `<namespace id>/<id>`. */
const aliases = collection('group-aliases', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: groupAliasShape,
  owner: OF_NAMESPACE,
  index: [
    {
      name: 'name',
      values: ({ mountUuid, name }) => [[mountUuid, digestOf(name)]],
      unique: true,
      ofOwner: true,
    },
    { name: 'group', values: ({ groupId }) => [groupId], unique: true, ofOwner: true },
    { name: 'mount', values: ({ mountUuid }) => [mountUuid], ofOwner: true },
  ],
});

export const findGroup = async (
  reads: Reads,
  namespaceId: string,
  id: string,
): Promise<Group | undefined> =>
  isUuid(id) ? groups.find(reads, `${namespaceId}/${id}`) : undefined;

export const findGroupByName = (
  reads: Reads,
  namespaceId: string,
  name: string,
): Promise<Group | undefined> => groups.by.name.find(reads, [namespaceId, nameValue(name)]);

/** Sorted by id. */
export const listGroups = async (reads: Reads, namespaceId: string): Promise<readonly Group[]> =>
  (await groups.below(namespaceId).entries(reads)).map(([, group]) => group);

/** The internal groups that have an entity as a member. */
export const groupsWithEntity = (
  reads: Reads,
  namespaceId: string,
  entityId: string,
): Promise<readonly Group[]> => groups.by.entity.records(reads, [namespaceId, entityId]);

/** The groups that have a group as a member. */
export const groupsWithGroup = (
  reads: Reads,
  { namespaceId, id }: Pick<Group, 'namespaceId' | 'id'>,
): Promise<readonly Group[]> => groups.by.group.records(reads, [namespaceId, id]);

export const writeGroup = (tx: Transaction, group: Group): Promise<void> =>
  groups.write(tx, `${group.namespaceId}/${group.id}`, group);

/** Its alias and its membership in other groups are removed separately. */
export const deleteGroupRecord = (
  tx: Transaction,
  { namespaceId, id }: Pick<Group, 'namespaceId' | 'id'>,
): Promise<void> => groups.delete(tx, namespaceId, id);

export const findGroupAlias = async (
  reads: Reads,
  namespaceId: string,
  id: string,
): Promise<GroupAlias | undefined> =>
  isUuid(id) ? aliases.find(reads, `${namespaceId}/${id}`) : undefined;

export const findGroupAliasByName = (
  reads: Reads,
  namespaceId: string,
  mountUuid: string,
  name: string,
): Promise<GroupAlias | undefined> =>
  aliases.by.name.find(reads, [namespaceId, mountUuid, digestOf(name)]);

export const findAliasOfGroup = (
  reads: Reads,
  { namespaceId, id }: Pick<Group, 'namespaceId' | 'id'>,
): Promise<GroupAlias | undefined> => aliases.by.group.find(reads, [namespaceId, id]);

export const listGroupAliasesOfMount = (
  reads: Reads,
  namespaceId: string,
  mountUuid: string,
): Promise<readonly GroupAlias[]> => aliases.by.mount.records(reads, [namespaceId, mountUuid]);

/** Sorted by id. */
export const listGroupAliases = async (
  reads: Reads,
  namespaceId: string,
): Promise<readonly GroupAlias[]> =>
  (await aliases.below(namespaceId).entries(reads)).map(([, alias]) => alias);

export const writeGroupAlias = (tx: Transaction, alias: GroupAlias): Promise<void> =>
  aliases.write(tx, `${alias.namespaceId}/${alias.id}`, alias);

export const deleteGroupAliasRecord = (
  tx: Transaction,
  { namespaceId, id }: Pick<GroupAlias, 'namespaceId' | 'id'>,
): Promise<void> => aliases.delete(tx, namespaceId, id);

/** The aliases of groups, by their mounts. */
export const groupAliasMounts: RecordIndex<GroupAlias> = aliases.by.mount;
