/**
 * Entities and their aliases. An entity is somebody who signs in, whatever the method: each alias names it at the
 * mount of one method.
 */
import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { requireMetadata } from '../../metadata/domain/metadata.ts';
import { INTERNAL_POLICIES, ROOT_POLICY } from '../../policies/domain/default-policy.ts';
import { normalizePolicies } from '../../tokens/domain/token-creation.ts';

const metadataShape = Type.Record(Type.String(), Type.String());

export const entityShape = Type.Object({
  id: Type.String(),
  namespaceId: Type.String(),
  /** Unique in its namespace, whatever the case of its letters. */
  name: Type.String(),
  metadata: metadataShape,
  /** In lower case, sorted, without duplicates. Its tokens have them in addition to their own. */
  policies: Type.Array(Type.String()),
  /** Ids of the entities that were merged into it; their tokens are its own. */
  mergedIds: Type.Array(Type.String()),
  /** Its tokens are refused, and it cannot sign in. */
  disabled: Type.Boolean(),
  createdAtMs: Type.Number(),
  updatedAtMs: Type.Number(),
});
export type Entity = Shaped<typeof entityShape>;

export const entityAliasShape = Type.Object({
  id: Type.String(),
  namespaceId: Type.String(),
  entityId: Type.String(),
  /** The mount of an auth method; with a new mount at the same path, the alias is another one. */
  mountUuid: Type.String(),
  mountAccessor: Type.String(),
  /** Unique at its mount: the name of a user, the id of a role. */
  name: Type.String(),
  /** Reported by the method at the last login. */
  metadata: metadataShape,
  customMetadata: metadataShape,
  /** Names of aliases of groups at the mount that the method reported at the last login, sorted. */
  groups: Type.Array(Type.String()),
  createdAtMs: Type.Number(),
  updatedAtMs: Type.Number(),
});
export type EntityAlias = Shaped<typeof entityAliasShape>;

/** The settings of an entity that an operator may change; undefined values remain unchanged. */
export interface EntityChanges {
  readonly metadata: Readonly<Record<string, string>> | undefined;
  readonly policies: readonly string[] | undefined;
  readonly disabled: boolean | undefined;
}

/** The client of a login, as its method knows it. */
export interface LoginAlias {
  readonly name: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Names of groups; those that are no alias of a group at the mount do not count. */
  readonly groups: readonly string[];
}

const MAX_NAME_LENGTH = 512;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/**
 * @param kind "entity", "alias" or "group"
 * @throws KeelsonError `request.invalid` for a name that is empty or too long
 */
export const requireIdentityName = (kind: string, name: string): string =>
  name === '' || name.length > MAX_NAME_LENGTH
    ? refuse(
        `the name of ${kind === 'group' ? 'a' : 'an'} ${kind} has 1 to ${MAX_NAME_LENGTH} characters`,
      )
    : name;

/** @throws KeelsonError `request.invalid` for a policy that no identity may have */
export const requireIdentityPolicies = (given: readonly string[]): readonly string[] => {
  const policies = normalizePolicies(given);
  if (policies.includes(ROOT_POLICY)) refuse('policies cannot contain root');
  const internal = policies.find((name) => INTERNAL_POLICIES.includes(name));
  return internal === undefined ? policies : refuse(`cannot assign policy "${internal}"`);
};

/** The entity or group that a request names; undefined texts name none. */
export interface GivenName {
  readonly id: string | undefined;
  readonly name: string | undefined;
}

/** A new entity, whose name is made from its id unless one is given. */
export const newEntity = (
  id: string,
  namespaceId: string,
  name: string | undefined,
  nowMs: number,
): Entity => ({
  id,
  namespaceId,
  name: name ?? `entity_${id.slice(0, 8)}`,
  metadata: {},
  policies: [],
  mergedIds: [],
  disabled: false,
  createdAtMs: nowMs,
  updatedAtMs: nowMs,
});

/** @throws KeelsonError `request.invalid` naming the parameter that is refused */
export const changedEntity = (
  before: Entity,
  { metadata, policies, disabled }: EntityChanges,
  nowMs: number,
): Entity => {
  if (metadata !== undefined) requireMetadata('metadata', metadata);
  return {
    ...before,
    metadata: metadata ?? before.metadata,
    policies: policies === undefined ? before.policies : requireIdentityPolicies(policies),
    disabled: disabled ?? before.disabled,
    updatedAtMs: nowMs,
  };
};

/** Whether the method reports the metadata and groups that it reported at the last login. */
export const isCurrent = (
  { metadata, groups }: EntityAlias,
  reported: Pick<EntityAlias, 'metadata' | 'groups'>,
): boolean => {
  const names = Object.keys(reported.metadata);
  return (
    names.length === Object.keys(metadata).length &&
    names.every(
      (name) => Object.hasOwn(metadata, name) && metadata[name] === reported.metadata[name],
    ) &&
    groups.length === reported.groups.length &&
    groups.every((name, at) => name === reported.groups[at])
  );
};

/** An entity with what others had: their policies, and their metadata where it has no value of its own. */
export const mergedEntity = (into: Entity, from: readonly Entity[], nowMs: number): Entity => ({
  ...into,
  policies: normalizePolicies([into, ...from].flatMap(({ policies }) => policies)),
  metadata: Object.assign({}, ...from.map(({ metadata }) => metadata), into.metadata) as Record<
    string,
    string
  >,
  mergedIds: [
    ...new Set([...into.mergedIds, ...from.flatMap(({ id, mergedIds }) => [id, ...mergedIds])]),
  ].sort(),
  updatedAtMs: nowMs,
});
