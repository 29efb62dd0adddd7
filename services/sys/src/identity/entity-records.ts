/** Records of entities and aliases. Paths contain digests of names, which may be long and have any characters. */
import { hash } from 'node:crypto';
import { collection, type Reads, type Transaction } from '@keelson/storage';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import { type Entity, type EntityAlias, entityAliasShape, entityShape } from './domain/entity.ts';

const digestOf = (name: string): string => hash('sha256', name);

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
    { name: 'mount', values: ({ mountUuid }) => [mountUuid], ofOwner: true },
  ],
});

/** An id becomes part of a path, so anything but a UUID counts as unknown. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const findEntity = async (
  reads: Reads,
  namespaceId: string,
  id: string,
): Promise<Entity | undefined> =>
  UUID.test(id) ? entities.find(reads, `${namespaceId}/${id}`) : undefined;

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
  UUID.test(id) ? aliases.find(reads, `${namespaceId}/${id}`) : undefined;

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

/** A mount that has aliases, whether or not it exists. */
export interface AliasMount {
  readonly namespaceId: string;
  readonly uuid: string;
}

export const listAliasMounts = async (reads: Reads): Promise<readonly AliasMount[]> => {
  const mounts: AliasMount[] = [];
  for (let after: string | undefined; ; ) {
    const [row] = await aliases.by.mount.rests(reads, [], {
      limit: 1,
      ...(after !== undefined && { after }),
    });
    const [namespaceId, uuid] = row?.split('/') ?? [];
    if (namespaceId === undefined || uuid === undefined) return mounts;
    mounts.push({ namespaceId, uuid });
    // The first path that is behind all rows of this mount.
    after = `${namespaceId}/${uuid}0`;
  }
};

/** Deletes aliases of a mount. @returns how many, at most `limit` */
export const deleteAliasesOfMount = async (
  tx: Transaction,
  { namespaceId, uuid }: AliasMount,
  limit: number,
): Promise<number> => {
  const keys = await aliases.by.mount.rests(tx, [namespaceId, uuid], { limit });
  for (const key of keys) await aliases.delete(tx, key);
  return keys.length;
};
