/** Creating, changing and deleting aliases: the names of an entity at the mounts of auth methods. */
import { randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Transaction } from '@keelson/storage';
import { requireMetadata } from '../metadata/domain/metadata.ts';
import { findAliasPlace, type MountPlace } from './alias-place.ts';
import { type EntityAlias, newEntity, requireIdentityName } from './domain/entity.ts';
import {
  deleteAliasRecord,
  findAlias,
  findAliasByName,
  findEntity,
  listAliases,
  listAliasesOf,
  writeAlias,
  writeEntity,
} from './entity-records.ts';
import type { IdentityContext } from './identity-context.ts';

/** Undefined values remain unchanged. */
export interface AliasDraft {
  /** Names the alias to change; without it, the alias of the name and the mount is changed or created. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly mountAccessor: string | undefined;
  readonly entityId: string | undefined;
  readonly customMetadata: Readonly<Record<string, string>> | undefined;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** The entity that an alias is to name; a new one unless the request or the alias names one. */
const provideEntityId = async (
  tx: Transaction,
  namespaceId: string,
  entityId: string | undefined,
  nowMs: number,
): Promise<string> => {
  if (entityId === undefined) {
    const entity = newEntity(randomUUID(), namespaceId, undefined, nowMs);
    await writeEntity(tx, entity);
    return entity.id;
  }
  return (await findEntity(tx, namespaceId, entityId)) === undefined
    ? refuse('invalid canonical ID')
    : entityId;
};

const requireOnlyOne = async (tx: Transaction, alias: EntityAlias): Promise<void> => {
  const { namespaceId, entityId } = alias;
  const others = (await listAliasesOf(tx, { namespaceId, id: entityId })).filter(
    ({ id }) => id !== alias.id,
  );
  if (others.some(({ mountUuid }) => mountUuid === alias.mountUuid))
    refuse(`the entity has another alias for the mount accessor "${alias.mountAccessor}"`);
  const namesake = await findAliasByName(tx, namespaceId, alias.mountUuid, alias.name);
  if (namesake !== undefined && namesake.id !== alias.id)
    refuse('the mount has another alias with this name');
};

/** The alias to change; undefined if it is a new one. */
const findNamed = async (
  tx: Transaction,
  namespaceId: string,
  { id, name }: AliasDraft,
  mount: MountPlace | undefined,
): Promise<EntityAlias | undefined> => {
  if (id !== undefined)
    return (await findAlias(tx, namespaceId, id)) ?? refuse('invalid alias ID provided');
  return name === undefined || mount === undefined
    ? undefined
    : findAliasByName(tx, namespaceId, mount.uuid, name);
};

/**
 * @throws KeelsonError `request.invalid` for unknown ids and accessors, mounts of one cluster alone, and a second
 *   alias of an entity at one mount
 */
export const putAlias = async (
  context: IdentityContext,
  namespaceId: string,
  draft: AliasDraft,
): Promise<EntityAlias> => {
  const { name, mountAccessor, entityId, customMetadata } = draft;
  if (customMetadata !== undefined) requireMetadata('custom_metadata', customMetadata);
  const mount = await findAliasPlace(context, namespaceId, mountAccessor);
  return context.store.transact(async (tx) => {
    const nowMs = context.clock.nowMs();
    const before = await findNamed(tx, namespaceId, draft, mount);
    const former = before && { uuid: before.mountUuid, accessor: before.mountAccessor };
    const place: MountPlace = mount ?? former ?? refuse('missing mount_accessor');
    const alias: EntityAlias = {
      id: before?.id ?? randomUUID(),
      namespaceId,
      name: requireIdentityName('alias', name ?? before?.name ?? ''),
      mountUuid: place.uuid,
      mountAccessor: place.accessor,
      entityId: await provideEntityId(tx, namespaceId, entityId ?? before?.entityId, nowMs),
      metadata: before?.metadata ?? {},
      groups: before?.groups ?? [],
      customMetadata: customMetadata ?? before?.customMetadata ?? {},
      createdAtMs: before?.createdAtMs ?? nowMs,
      updatedAtMs: nowMs,
    };
    await requireOnlyOne(tx, alias);
    await writeAlias(tx, alias);
    return alias;
  });
};

export const readAlias = (
  { store }: IdentityContext,
  namespaceId: string,
  id: string,
): Promise<EntityAlias | undefined> => findAlias(store, namespaceId, id);

/** Succeeds when there is no such alias. The entity and its tokens remain. */
export const deleteAlias = (
  { store }: IdentityContext,
  namespaceId: string,
  id: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const alias = await findAlias(tx, namespaceId, id);
    if (alias !== undefined) await deleteAliasRecord(tx, alias);
  });

/** All aliases of a namespace, sorted by id. */
export const listAllAliases = (
  { store }: IdentityContext,
  namespaceId: string,
): Promise<readonly EntityAlias[]> => listAliases(store, namespaceId);
