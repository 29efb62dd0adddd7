/** Documents of groups and their aliases. */
import type { JsonObject } from '@keelson/secrets-api';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { mountMembers, nullIfEmpty, toTimestamp } from './alias-members.ts';
import type { GroupAlias } from './domain/group.ts';
import type { ShownGroup } from './group-operations.ts';

export const groupAliasDocument = (alias: GroupAlias, mounts: MountIndex): JsonObject => ({
  canonical_id: alias.groupId,
  creation_time: toTimestamp(alias.createdAtMs),
  id: alias.id,
  last_update_time: toTimestamp(alias.updatedAtMs),
  merged_from_canonical_ids: null,
  metadata: null,
  ...mountMembers(alias, mounts),
  name: alias.name,
  namespace_id: alias.namespaceId,
});

const aliasOf = ({ alias }: ShownGroup, mounts: MountIndex): JsonObject =>
  alias === undefined ? {} : groupAliasDocument(alias, mounts);

export const groupDocument = (shown: ShownGroup, mounts: MountIndex): JsonObject => {
  const { group } = shown;
  return {
    alias: aliasOf(shown, mounts),
    creation_time: toTimestamp(group.createdAtMs),
    id: group.id,
    last_update_time: toTimestamp(group.updatedAtMs),
    member_entity_ids: shown.memberEntityIds,
    member_group_ids: group.memberGroupIds,
    metadata: nullIfEmpty(group.metadata),
    name: group.name,
    namespace_id: group.namespaceId,
    parent_group_ids: shown.parentIds,
    policies: group.policies,
    type: group.type,
  };
};

/** @param by the member that the keys are */
export const groupListDocument = (
  groups: readonly ShownGroup[],
  mounts: MountIndex,
  by: 'id' | 'name',
): JsonObject => {
  const sorted = groups.toSorted((a, b) => (a.group[by] < b.group[by] ? -1 : 1));
  return {
    keys: sorted.map(({ group }) => group[by]),
    key_info: Object.fromEntries(
      sorted.map((shown) => [
        shown.group[by],
        {
          ...(by === 'id' ? { name: shown.group.name } : { id: shown.group.id }),
          alias: aliasOf(shown, mounts),
          num_member_entities: shown.memberEntityIds.length,
          num_parent_groups: shown.parentIds.length,
        },
      ]),
    ),
  };
};

export const groupAliasListDocument = (
  aliases: readonly GroupAlias[],
  mounts: MountIndex,
): JsonObject => ({
  keys: aliases.map(({ id }) => id),
  key_info: Object.fromEntries(
    aliases.map((alias) => [
      alias.id,
      { canonical_id: alias.groupId, name: alias.name, ...mountMembers(alias, mounts) },
    ]),
  ),
});
