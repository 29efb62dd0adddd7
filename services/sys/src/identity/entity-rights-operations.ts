/** The rights that an entity adds to those of its tokens, read again for each request. */
import type { Reads } from '@keelson/storage';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import type { EntityRights } from '../tokens/token-context.ts';
import { findEntity, listAliasesOf } from './entity-records.ts';

/** Undefined for an entity that is disabled or deleted. */
export const findEntityRights = async (
  reads: Reads,
  { namespaceId, id }: EntityRef,
): Promise<EntityRights | undefined> => {
  const entity = await findEntity(reads, namespaceId, id);
  if (entity === undefined || entity.disabled) return undefined;
  const { name, metadata, policies } = entity;
  return {
    policies,
    identity: async (needsAliases) => {
      const aliases = needsAliases ? await listAliasesOf(reads, entity) : [];
      return {
        entity: {
          id,
          name,
          metadata,
          aliases: Object.fromEntries(aliases.map((alias) => [alias.mountAccessor, alias])),
        },
        groups: [],
      };
    },
  };
};
