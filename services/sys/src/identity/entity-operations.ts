/** Creating, changing and deleting entities. Their tokens are judged by the entity as of each request. */
import { randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Transaction } from '@keelson/storage';
import {
  changedEntity,
  type Entity,
  type EntityAlias,
  type EntityChanges,
  type GivenName,
  newEntity,
  requireIdentityName,
} from './domain/entity.ts';
import {
  deleteAliasRecord,
  deleteEntityRecord,
  findAlias,
  findAliasByName,
  findEntity,
  findEntityByName,
  listAliasesOf,
  listEntities,
  writeEntity,
} from './entity-records.ts';
import { findMemberships, type Memberships } from './group-membership-operations.ts';
import { groupsWithEntity, writeGroup } from './group-records.ts';
import type { IdentityContext } from './identity-context.ts';

export interface EntityWithAliases {
  readonly entity: Entity;
  readonly aliases: readonly EntityAlias[];
}

export interface ShownEntity extends EntityWithAliases {
  readonly memberships: Memberships;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const requireFreeName = async (
  tx: Transaction,
  namespaceId: string,
  name: string,
): Promise<string> =>
  (await findEntityByName(tx, namespaceId, requireIdentityName('entity', name))) === undefined
    ? name
    : refuse('entity name is already in use');

/** The entity to change, with the name that it gets; undefined if it is a new one. */
const findNamed = async (
  tx: Transaction,
  namespaceId: string,
  { id, name }: GivenName,
): Promise<Entity | undefined> => {
  if (id === undefined)
    return name === undefined ? undefined : findEntityByName(tx, namespaceId, name);
  const entity = await findEntity(tx, namespaceId, id);
  if (entity === undefined) return refuse('entity not found from id');
  if (name === undefined || name === entity.name) return entity;
  const isOtherCase = name.toLowerCase() === entity.name.toLowerCase();
  return { ...entity, name: isOtherCase ? name : await requireFreeName(tx, namespaceId, name) };
};

/**
 * Creates an entity, or changes the one that is named.
 * @throws KeelsonError `request.invalid` for an unknown id, a name that is in use and values that are refused
 */
export const putEntity = (
  { store, clock }: IdentityContext,
  namespaceId: string,
  named: GivenName,
  changes: EntityChanges,
): Promise<{ readonly entity: Entity; readonly isNew: boolean }> =>
  store.transact(async (tx) => {
    const nowMs = clock.nowMs();
    const before = await findNamed(tx, namespaceId, named);
    const given = named.name === undefined ? undefined : requireIdentityName('entity', named.name);
    const drafted = before ?? newEntity(randomUUID(), namespaceId, given, nowMs);
    const entity = changedEntity(drafted, changes, nowMs);
    await writeEntity(tx, entity);
    return { entity, isNew: before === undefined };
  });

/** Deletes an entity with its aliases and memberships, which ends its tokens. Succeeds when there is no such entity. */
export const deleteEntity = (
  { store, clock, onEntityRemoved }: IdentityContext,
  namespaceId: string,
  named: GivenName,
): Promise<void> =>
  store.transact(async (tx) => {
    const { id, name } = named;
    const entity =
      id === undefined
        ? name && (await findEntityByName(tx, namespaceId, name))
        : await findEntity(tx, namespaceId, id);
    if (!entity) return;
    for (const group of await groupsWithEntity(tx, namespaceId, entity.id))
      await writeGroup(tx, {
        ...group,
        memberEntityIds: group.memberEntityIds.filter((one) => one !== entity.id),
        updatedAtMs: clock.nowMs(),
      });
    for (const alias of await listAliasesOf(tx, entity)) await deleteAliasRecord(tx, alias);
    await deleteEntityRecord(tx, entity);
    await onEntityRemoved(tx, entity);
  });

const show = async (
  { store }: IdentityContext,
  entity: Entity | undefined,
): Promise<ShownEntity | undefined> => {
  if (entity === undefined) return undefined;
  const aliases = await listAliasesOf(store, entity);
  return { entity, aliases, memberships: await findMemberships(store, entity, aliases) };
};

export const readEntity = async (
  context: IdentityContext,
  namespaceId: string,
  id: string,
): Promise<ShownEntity | undefined> =>
  show(context, await findEntity(context.store, namespaceId, id));

export const readEntityByName = async (
  context: IdentityContext,
  namespaceId: string,
  name: string,
): Promise<ShownEntity | undefined> =>
  show(context, await findEntityByName(context.store, namespaceId, name));

/** The entity of an alias of this namespace. */
export const readEntityOfAlias = async (
  context: IdentityContext,
  namespaceId: string,
  named: { readonly id: string } | { readonly name: string; readonly mountAccessor: string },
): Promise<ShownEntity | undefined> => {
  const { store, mounts } = context;
  if ('id' in named) {
    const alias = await findAlias(store, namespaceId, named.id);
    return alias && readEntity(context, namespaceId, alias.entityId);
  }
  const mount = (await mounts())
    .of(namespaceId, 'auth')
    .find(({ accessor }) => accessor === named.mountAccessor);
  const alias = mount && (await findAliasByName(store, namespaceId, mount.uuid, named.name));
  return alias && readEntity(context, namespaceId, alias.entityId);
};

/** All entities of a namespace, sorted by id. */
export const listAllEntities = async (
  context: IdentityContext,
  namespaceId: string,
): Promise<readonly EntityWithAliases[]> => {
  const { store } = context;
  const all: EntityWithAliases[] = [];
  for (const entity of await listEntities(store, namespaceId))
    all.push({ entity, aliases: await listAliasesOf(store, entity) });
  return all;
};
