/** Documents of entities and aliases. */
import type { JsonObject } from '@keelson/secrets-api';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { mountMembers, nullIfEmpty, toTimestamp } from './alias-members.ts';
import type { EntityAlias } from './domain/entity.ts';
import type { EntityWithAliases, ShownEntity } from './entity-operations.ts';

export const aliasDocument = (alias: EntityAlias, mounts: MountIndex): JsonObject => ({
  canonical_id: alias.entityId,
  creation_time: toTimestamp(alias.createdAtMs),
  custom_metadata: nullIfEmpty(alias.customMetadata),
  id: alias.id,
  last_update_time: toTimestamp(alias.updatedAtMs),
  local: false,
  merged_from_canonical_ids: null,
  metadata: nullIfEmpty(alias.metadata),
  ...mountMembers(alias, mounts),
  name: alias.name,
  namespace_id: alias.namespaceId,
});

const idsOf = (groups: readonly { readonly id: string }[]): readonly string[] =>
  groups.map(({ id }) => id).sort();

export const entityDocument = (
  { entity, aliases, memberships }: ShownEntity,
  mounts: MountIndex,
): JsonObject => ({
  aliases: aliases.map((alias) => aliasDocument(alias, mounts)),
  creation_time: toTimestamp(entity.createdAtMs),
  direct_group_ids: idsOf(memberships.direct),
  disabled: entity.disabled,
  group_ids: idsOf([...memberships.direct, ...memberships.inherited]),
  id: entity.id,
  inherited_group_ids: idsOf(memberships.inherited),
  last_update_time: toTimestamp(entity.updatedAtMs),
  merged_entity_ids: entity.mergedIds.length === 0 ? null : entity.mergedIds,
  metadata: nullIfEmpty(entity.metadata),
  name: entity.name,
  namespace_id: entity.namespaceId,
  policies: entity.policies,
});

/** @param by the member that the keys are */
export const entityListDocument = (
  entities: readonly EntityWithAliases[],
  mounts: MountIndex,
  by: 'id' | 'name',
): JsonObject => {
  const sorted = entities.toSorted((a, b) => (a.entity[by] < b.entity[by] ? -1 : 1));
  return {
    keys: sorted.map(({ entity }) => entity[by]),
    key_info: Object.fromEntries(
      sorted.map(({ entity, aliases }) => [
        entity[by],
        {
          ...(by === 'id' ? { name: entity.name } : { id: entity.id }),
          aliases: aliases.map((alias) => ({
            id: alias.id,
            name: alias.name,
            ...mountMembers(alias, mounts),
          })),
        },
      ]),
    ),
  };
};

export const aliasListDocument = (
  aliases: readonly EntityAlias[],
  mounts: MountIndex,
): JsonObject => ({
  keys: aliases.map(({ id }) => id),
  key_info: Object.fromEntries(
    aliases.map((alias) => [
      alias.id,
      {
        canonical_id: alias.entityId,
        custom_metadata: nullIfEmpty(alias.customMetadata),
        local: false,
        name: alias.name,
        ...mountMembers(alias, mounts),
      },
    ]),
  ),
});
