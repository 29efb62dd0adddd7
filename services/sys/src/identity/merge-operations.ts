/** Merging entities: several turn out to be one person, whose tokens, aliases and memberships become those of one entity. */
import { KeelsonError } from '@keelson/errors';
import type { Transaction } from '@keelson/storage';
import { type Entity, type EntityAlias, mergedEntity } from './domain/entity.ts';
import {
  deleteAliasRecord,
  deleteEntityRecord,
  findEntity,
  listAliasesOf,
  writeAlias,
  writeEntity,
} from './entity-records.ts';
import { groupsWithEntity, writeGroup } from './group-records.ts';
import type { IdentityContext } from './identity-context.ts';

export interface Merge {
  readonly fromIds: readonly string[];
  readonly toId: string;
  /**
   * Where two of the entities have an alias at one mount, or a second factor for one method, all but that of the
   * remaining entity are deleted.
   */
  readonly force: boolean;
  /** Aliases to keep instead. */
  readonly keptAliasIds: readonly string[];
}

/** Entities of one merge, which is one transaction. */
const MAX_MERGED = 100;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** The aliases that remain: one at each mount. */
const chooseAliases = (
  aliases: readonly EntityAlias[],
  { force, keptAliasIds }: Merge,
): ReadonlySet<string> => {
  const chosen = new Map<string, string>();
  for (const { id, mountUuid, mountAccessor } of aliases) {
    const other = chosen.get(mountUuid);
    if (other === undefined || keptAliasIds.includes(id)) chosen.set(mountUuid, id);
    if (other !== undefined && !force && ![id, other].some((one) => keptAliasIds.includes(one)))
      refuse(
        `the entities have several aliases for the mount accessor "${mountAccessor}": give force, or conflicting_alias_ids_to_keep`,
      );
  }
  return new Set(chosen.values());
};

const moveMemberships = async (
  tx: Transaction,
  from: Entity,
  into: Entity,
  nowMs: number,
): Promise<void> => {
  for (const group of await groupsWithEntity(tx, from.namespaceId, from.id)) {
    const others = group.memberEntityIds.filter((id) => id !== from.id);
    const memberEntityIds = [...new Set([...others, into.id])].sort();
    await writeGroup(tx, { ...group, memberEntityIds, updatedAtMs: nowMs });
  }
};

/**
 * Merges entities into another one, of which their tokens are from then on.
 * @throws KeelsonError `request.invalid` for unknown entities, for one that is disabled while the remaining one is not,
 *   and for aliases and second factors of which only one can remain
 */
export const mergeEntities = (
  { store, clock, onEntityMerged }: IdentityContext,
  namespaceId: string,
  merge: Merge,
): Promise<void> =>
  store.transact(async (tx) => {
    const nowMs = clock.nowMs();
    const fromIds = [...new Set(merge.fromIds)];
    if (fromIds.length > MAX_MERGED) refuse(`from_entity_ids has at most ${MAX_MERGED} ids`);
    if (fromIds.includes(merge.toId)) refuse('to_entity_id cannot be one of from_entity_ids');
    const into =
      (await findEntity(tx, namespaceId, merge.toId)) ?? refuse('entity id to merge to is invalid');
    const from: Entity[] = [];
    const aliases = [...(await listAliasesOf(tx, into))];
    for (const id of fromIds) {
      const entity =
        (await findEntity(tx, namespaceId, id)) ??
        refuse(`entity id "${id}" to merge from is invalid`);
      if (entity.disabled && !into.disabled)
        refuse(
          `entity id "${id}" is disabled, and its tokens would be valid again: enable it first`,
        );
      from.push(entity);
      aliases.push(...(await listAliasesOf(tx, entity)));
    }
    const remaining = chooseAliases(aliases, merge);
    for (const alias of aliases)
      if (!remaining.has(alias.id)) await deleteAliasRecord(tx, alias);
      else if (alias.entityId !== into.id)
        await writeAlias(tx, { ...alias, entityId: into.id, updatedAtMs: nowMs });
    for (const entity of from) {
      await moveMemberships(tx, entity, into, nowMs);
      await deleteEntityRecord(tx, entity);
      await onEntityMerged(tx, entity, into, merge.force);
    }
    await writeEntity(tx, mergedEntity(into, from, nowMs));
  });
