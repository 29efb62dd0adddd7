/** The rights that an entity and its groups add to those of its tokens, read again for each request. */
import type { Reads } from '@keelson/storage';
import { normalizePolicies } from '../tokens/domain/token-creation.ts';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import type { EntityRights } from '../tokens/token-context.ts';
import { findEntityOrMerged, listAliasesOf } from './entity-records.ts';
import { findMemberships } from './group-membership-operations.ts';

/** Undefined for an entity that is disabled or deleted. */
export const findEntityRights = async (
  reads: Reads,
  ref: EntityRef,
): Promise<EntityRights | undefined> => {
  const entity = await findEntityOrMerged(reads, ref.namespaceId, ref.id);
  if (entity === undefined || entity.disabled) return undefined;
  const { id, name, metadata } = entity;
  const aliases = await listAliasesOf(reads, entity);
  const { direct, inherited } = await findMemberships(reads, entity, aliases);
  const groups = [...direct, ...inherited];
  return {
    policies:
      groups.length === 0
        ? entity.policies
        : normalizePolicies([...entity.policies, ...groups.flatMap(({ policies }) => policies)]),
    entityIds: [id, ...entity.mergedIds],
    identity: {
      entity: {
        id,
        name,
        metadata,
        aliases: Object.fromEntries(aliases.map((alias) => [alias.mountAccessor, alias])),
      },
      groups,
    },
  };
};
