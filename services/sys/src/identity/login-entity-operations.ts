/** The entity of a login: found by the alias that the method reports, or created with it. */
import { randomUUID } from 'node:crypto';
import type { Reads, Transaction } from '@keelson/storage';
import type { MountRecord } from '../mounts/domain/mount.ts';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import {
  type EntityAlias,
  isCurrent,
  type LoginAlias,
  newEntity,
  requireIdentityName,
} from './domain/entity.ts';
import { findAliasByName, writeAlias, writeEntity } from './entity-records.ts';

type LoginMount = Pick<MountRecord, 'uuid' | 'accessor' | 'namespaceId'>;

const refOf = ({ entityId: id, namespaceId }: EntityAlias): EntityRef => ({ id, namespaceId });

/** The entity of an alias that needs no change; undefined if something would have to be written. */
export const findLoginEntity = async (
  reads: Reads,
  { uuid, namespaceId }: LoginMount,
  reported: LoginAlias,
): Promise<EntityRef | undefined> => {
  const alias = await findAliasByName(reads, namespaceId, uuid, reported.name);
  return alias !== undefined && isCurrent(alias, reported) ? refOf(alias) : undefined;
};

/**
 * The entity of an alias, created with it if the mount does not know the name. Two logins at the same time conflict
 * over the name of the alias, so that one of them finds what the other has created.
 * @throws KeelsonError `request.invalid` for a name that is empty or too long
 */
export const provideLoginEntity = async (
  tx: Transaction,
  { uuid: mountUuid, accessor: mountAccessor, namespaceId }: LoginMount,
  reported: LoginAlias,
  nowMs: number,
): Promise<EntityRef> => {
  const name = requireIdentityName('alias', reported.name);
  const metadata = { ...reported.metadata };
  const known = await findAliasByName(tx, namespaceId, mountUuid, name);
  if (known !== undefined) {
    if (!isCurrent(known, reported))
      await writeAlias(tx, { ...known, metadata, updatedAtMs: nowMs });
    return refOf(known);
  }
  const entity = newEntity(randomUUID(), namespaceId, undefined, nowMs);
  await writeEntity(tx, entity);
  const alias: EntityAlias = {
    id: randomUUID(),
    namespaceId,
    entityId: entity.id,
    mountUuid,
    mountAccessor,
    name,
    metadata,
    customMetadata: {},
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  await writeAlias(tx, alias);
  return refOf(alias);
};
