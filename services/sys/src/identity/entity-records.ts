/** Records of entities and aliases. Paths contain digests of names, which may be long and have any characters. */
import { hash } from 'node:crypto';
import {
  collection,
  countRecords,
  type Reads,
  type RecordIndex,
  type Store,
  type Transaction,
} from '@keelson/storage';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import { type Entity, type EntityAlias, entityAliasShape, entityShape } from './domain/entity.ts';

/** A segment of a path that stands for a name. */
export const digestOf = (name: string): string => hash('sha256', name);

/** Names of entities are the same whatever the case of their letters. */
const nameValue = (name: string): string => digestOf(name.toLowerCase());

/** Keys are `<namespace id>/<id>`. */
const entities = collection('entities', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: entityShape,
  owner: OF_NAMESPACE,
  index: [
    {
      name: 'name',
      values: ({ name }) => [nameValue(name)],
      unique: true,
      ofOwner: true,
    },
    { name: 'merged', values: ({ mergedIds }) => mergedIds, unique: true, ofOwner: true },
  ],
});

/** Keys are `<namespace id>/<id>`. */
const aliases = collection('entity-aliases', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: entityAliasShape,
  owner: OF_NAMESPACE,
  index: [
    {
      name: 'name',
      values: ({ mountUuid, name }) => [[mountUuid, digestOf(name)]],
      unique: true,
      ofOwner: true,
    },
    { name: 'entity', values: ({ entityId }) => [entityId], ofOwner: true },
    {
      name: 'group',
      values: ({ mountUuid, groups }) => groups.map((name) => [mountUuid, digestOf(name)]),
      ofOwner: true,
    },
    { name: 'mount', values: ({ mountUuid }) => [mountUuid], ofOwner: true },
  ],
});

/** An id becomes part of a path, so anything but a UUID counts as unknown. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const isUuid = (id: string): boolean => UUID.test(id);

export const findEntity = async (
  reads: Reads,
  namespaceId: string,
  id: string,
): Promise<Entity | undefined> =>
  isUuid(id) ? entities.find(reads, `${namespaceId}/${id}`) : undefined;

/** The entity with an id, or the one that it was merged into. */
export const findEntityOrMerged = async (
  reads: Reads,
  namespaceId: string,
  id: string,
): Promise<Entity | undefined> =>
  (await findEntity(reads, namespaceId, id)) ??
  (isUuid(id) ? entities.by.merged.find(reads, [namespaceId, id]) : undefined);

export const findEntityByName = (
  reads: Reads,
  namespaceId: string,
  name: string,
): Promise<Entity | undefined> => entities.by.name.find(reads, [namespaceId, nameValue(name)]);

/** Sorted by id. */
export const listEntities = async (reads: Reads, namespaceId: string): Promise<readonly Entity[]> =>
  (await entities.below(namespaceId).entries(reads)).map(([, entity]) => entity);

export const writeEntity = (tx: Transaction, entity: Entity): Promise<void> =>
  entities.write(tx, `${entity.namespaceId}/${entity.id}`, entity);

/** Its aliases are deleted separately. */
export const deleteEntityRecord = (
  tx: Transaction,
  { namespaceId, id }: Pick<Entity, 'namespaceId' | 'id'>,
): Promise<void> => entities.delete(tx, namespaceId, id);

export const findAlias = async (
  reads: Reads,
  namespaceId: string,
  id: string,
): Promise<EntityAlias | undefined> =>
  isUuid(id) ? aliases.find(reads, `${namespaceId}/${id}`) : undefined;

/** The alias of a name at a mount. */
export const findAliasByName = (
  reads: Reads,
  namespaceId: string,
  mountUuid: string,
  name: string,
): Promise<EntityAlias | undefined> =>
  aliases.by.name.find(reads, [namespaceId, mountUuid, digestOf(name)]);

export const listAliasesOf = (
  reads: Reads,
  { namespaceId, id }: Pick<Entity, 'namespaceId' | 'id'>,
): Promise<readonly EntityAlias[]> => aliases.by.entity.records(reads, [namespaceId, id]);

/** Sorted by id. */
export const listAliases = async (
  reads: Reads,
  namespaceId: string,
): Promise<readonly EntityAlias[]> =>
  (await aliases.below(namespaceId).entries(reads)).map(([, alias]) => alias);

export const writeAlias = (tx: Transaction, alias: EntityAlias): Promise<void> =>
  aliases.write(tx, `${alias.namespaceId}/${alias.id}`, alias);

export const deleteAliasRecord = (
  tx: Transaction,
  { namespaceId, id }: Pick<EntityAlias, 'namespaceId' | 'id'>,
): Promise<void> => aliases.delete(tx, namespaceId, id);

/** Ids of the entities whose method reported a group at the last login. */
export const listEntitiesReportedAs = async (
  reads: Reads,
  { namespaceId, mountUuid, name }: Pick<EntityAlias, 'namespaceId' | 'mountUuid' | 'name'>,
): Promise<readonly string[]> => {
  const found = await aliases.by.group.records(reads, [namespaceId, mountUuid, digestOf(name)]);
  return [...new Set(found.map(({ entityId }) => entityId))].sort();
};

/** The aliases of entities, by their mounts. */
export const entityAliasMounts: RecordIndex<EntityAlias> = aliases.by.mount;

/** Number of entities in all namespaces; at most `limit`. */
export const countEntities = (store: Store, limit: number): Promise<number> =>
  countRecords(store, entities.prefix, limit);
