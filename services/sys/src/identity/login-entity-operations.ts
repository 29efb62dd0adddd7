/** The entity of a login: found by the alias that the method reports, or created with it. */
import { randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
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
import { listGroupAliasesOfMount } from './group-records.ts';

type LoginMount = Pick<MountRecord, 'uuid' | 'accessor' | 'namespaceId'>;

const refOf = ({ entityId: id, namespaceId }: EntityAlias): EntityRef => ({ id, namespaceId });

/** Longer lists of groups are refused, because each name costs time at every login. */
const MAX_REPORTED_GROUPS = 10_000;

/** The reported groups that have an alias at the mount, sorted. */
const knownGroups = async (
  reads: Reads,
  { uuid, namespaceId }: LoginMount,
  reported: LoginAlias,
): Promise<string[]> => {
  if (reported.groups.length === 0) return [];
  if (reported.groups.length > MAX_REPORTED_GROUPS)
    throw new KeelsonError('request.invalid', {
      text: `a login names at most ${MAX_REPORTED_GROUPS} groups`,
    });
  const names = new Set(reported.groups);
  const known = await listGroupAliasesOfMount(reads, namespaceId, uuid);
  return known
    .map(({ name }) => name)
    .filter((name) => names.has(name))
    .sort();
};

/** The entity of an alias that needs no change; undefined if something would have to be written. */
export const findLoginEntity = async (
  reads: Reads,
  mount: LoginMount,
  reported: LoginAlias,
): Promise<EntityRef | undefined> => {
  const alias = await findAliasByName(reads, mount.namespaceId, mount.uuid, reported.name);
  if (alias === undefined) return undefined;
  const groups = await knownGroups(reads, mount, reported);
  return isCurrent(alias, { metadata: reported.metadata, groups }) ? refOf(alias) : undefined;
};

/**
 * The entity of an alias, created with it if the mount does not know the name. Two logins at the same time conflict
 * over the name of the alias, so that one of them finds what the other has created.
 * @throws KeelsonError `request.invalid` for a name that is empty or too long
 */
export const provideLoginEntity = async (
  tx: Transaction,
  mount: LoginMount,
  reported: LoginAlias,
  nowMs: number,
): Promise<EntityRef> => {
  const { uuid: mountUuid, accessor: mountAccessor, namespaceId } = mount;
  const name = requireIdentityName('alias', reported.name);
  const now = {
    metadata: { ...reported.metadata },
    groups: await knownGroups(tx, mount, reported),
  };
  const known = await findAliasByName(tx, namespaceId, mountUuid, name);
  if (known !== undefined) {
    if (!isCurrent(known, now)) await writeAlias(tx, { ...known, ...now, updatedAtMs: nowMs });
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
    ...now,
    customMetadata: {},
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  await writeAlias(tx, alias);
  return refOf(alias);
};
