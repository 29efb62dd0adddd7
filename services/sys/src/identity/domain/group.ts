/**
 * Groups. The members of an internal group are entities and other groups; those of an external group are the entities
 * whose method reported the name of the group's alias at the last login.
 */
import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { requireMetadata } from '../../metadata/domain/metadata.ts';
import { requireIdentityPolicies } from './entity.ts';

export const groupShape = Type.Object({
  id: Type.String(),
  namespaceId: Type.String(),
  /** Unique in its namespace, whatever the case of its letters. */
  name: Type.String(),
  type: Type.Enum(['internal', 'external']),
  metadata: Type.Record(Type.String(), Type.String()),
  /** In lower case, sorted, without duplicates. Members have them, also those of member groups. */
  policies: Type.Array(Type.String()),
  /** Sorted, like the following; both are empty in an external group. */
  memberEntityIds: Type.Array(Type.String()),
  memberGroupIds: Type.Array(Type.String()),
  createdAtMs: Type.Number(),
  updatedAtMs: Type.Number(),
});
export type Group = Shaped<typeof groupShape>;

export const groupAliasShape = Type.Object({
  id: Type.String(),
  namespaceId: Type.String(),
  /** An external group, which has no other alias. */
  groupId: Type.String(),
  mountUuid: Type.String(),
  mountAccessor: Type.String(),
  /** Unique at its mount: the name by which the method reports the group. */
  name: Type.String(),
  createdAtMs: Type.Number(),
  updatedAtMs: Type.Number(),
});
export type GroupAlias = Shaped<typeof groupAliasShape>;

/** The settings of a group that an operator may change; undefined values remain unchanged. */
export interface GroupChanges {
  readonly type: string | undefined;
  readonly metadata: Readonly<Record<string, string>> | undefined;
  readonly policies: readonly string[] | undefined;
  readonly member_entity_ids: readonly string[] | undefined;
  readonly member_group_ids: readonly string[] | undefined;
}

/** Groups in a chain of members of members. */
export const MAX_GROUP_DEPTH = 16;
const MAX_MEMBERS = 5000;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const requireType = (given: string): Group['type'] =>
  given === 'internal' || given === 'external'
    ? given
    : refuse('the type of a group is "internal" or "external"');

export const newGroup = (
  id: string,
  namespaceId: string,
  name: string | undefined,
  type: string | undefined,
  nowMs: number,
): Group => ({
  id,
  namespaceId,
  name: name ?? `group_${id.slice(0, 8)}`,
  type: requireType(type ?? 'internal'),
  metadata: {},
  policies: [],
  memberEntityIds: [],
  memberGroupIds: [],
  createdAtMs: nowMs,
  updatedAtMs: nowMs,
});

const membersOf = (parameter: string, given: readonly string[]): readonly string[] => {
  const members = [...new Set(given)].sort();
  return members.length > MAX_MEMBERS
    ? refuse(`${parameter} has at most ${MAX_MEMBERS} ids`)
    : members;
};

/** @throws KeelsonError `request.invalid` naming the parameter that is refused */
export const changedGroup = (before: Group, changes: GroupChanges, nowMs: number): Group => {
  const { type, metadata, policies, member_entity_ids, member_group_ids } = changes;
  if (type !== undefined && requireType(type) !== before.type)
    refuse('the type of a group cannot be changed');
  if (metadata !== undefined) requireMetadata('metadata', metadata);
  if (before.type === 'external')
    for (const [name, members] of Object.entries({ member_entity_ids, member_group_ids }))
      if ((members ?? []).length > 0)
        refuse(`${name} cannot be set: the members of an external group follow from logins`);
  return {
    ...before,
    metadata: metadata ?? before.metadata,
    policies: policies === undefined ? before.policies : requireIdentityPolicies(policies),
    memberEntityIds:
      member_entity_ids === undefined
        ? before.memberEntityIds
        : membersOf('member_entity_ids', member_entity_ids),
    memberGroupIds:
      member_group_ids === undefined
        ? before.memberGroupIds
        : membersOf('member_group_ids', member_group_ids),
    updatedAtMs: nowMs,
  };
};
