/** Creating, changing and deleting groups. Tokens of their members are judged by the groups as of each request. */
import { randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Reads, Transaction } from '@keelson/storage';
import { type GivenName, requireIdentityName } from './domain/entity.ts';
import {
  changedGroup,
  type Group,
  type GroupAlias,
  type GroupChanges,
  MAX_GROUP_DEPTH,
  newGroup,
} from './domain/group.ts';
import { findEntity, listEntitiesReportedAs } from './entity-records.ts';
import {
  deleteGroupAliasRecord,
  deleteGroupRecord,
  findAliasOfGroup,
  findGroup,
  findGroupAlias,
  findGroupAliasByName,
  findGroupByName,
  groupsWithGroup,
  listGroups,
  writeGroup,
} from './group-records.ts';
import type { IdentityContext } from './identity-context.ts';

/** A group with everything that is known about it elsewhere. */
export interface ShownGroup {
  readonly group: Group;
  readonly alias: GroupAlias | undefined;
  readonly memberEntityIds: readonly string[];
  readonly parentIds: readonly string[];
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const requireFreeName = async (
  tx: Transaction,
  namespaceId: string,
  name: string,
): Promise<string> =>
  (await findGroupByName(tx, namespaceId, requireIdentityName('group', name))) === undefined
    ? name
    : refuse('group name is already in use');

/** The group to change, with the name that it gets; undefined if it is a new one. */
const findNamed = async (
  tx: Transaction,
  namespaceId: string,
  { id, name }: GivenName,
): Promise<Group | undefined> => {
  if (id === undefined)
    return name === undefined ? undefined : findGroupByName(tx, namespaceId, name);
  const group = (await findGroup(tx, namespaceId, id)) ?? refuse('group not found from id');
  if (name === undefined || name === group.name) return group;
  const isOtherCase = name.toLowerCase() === group.name.toLowerCase();
  return { ...group, name: isOtherCase ? name : await requireFreeName(tx, namespaceId, name) };
};

/** Length of the longest chain of groups that begins with these, the group itself not among them. */
const depthOf = async (
  groups: readonly Group[],
  next: (group: Group) => Promise<readonly Group[]>,
  known: Map<string, number>,
): Promise<number> => {
  let longest = 0;
  for (const group of groups) {
    const depth = known.get(group.id) ?? 1 + (await depthOf(await next(group), next, known));
    known.set(group.id, depth);
    longest = Math.max(longest, depth);
  }
  return longest;
};

const requireGroups = async (
  tx: Transaction,
  namespaceId: string,
  ids: readonly string[],
): Promise<readonly Group[]> => {
  const found: Group[] = [];
  for (const id of ids)
    found.push((await findGroup(tx, namespaceId, id)) ?? refuse(`invalid member group ID "${id}"`));
  return found;
};

/**
 * The members exist, and no group is its own member, directly or through others. The transaction reads every group
 * that the answer depends on, so that two changes at the same time cannot make a circle together.
 */
const requireMembers = async (tx: Transaction, group: Group): Promise<void> => {
  const { id, namespaceId } = group;
  for (const entityId of group.memberEntityIds)
    if ((await findEntity(tx, namespaceId, entityId)) === undefined)
      refuse(`invalid member entity ID "${entityId}"`);
  if (group.memberGroupIds.length === 0) return;
  const membersOf = async (one: Group): Promise<readonly Group[]> =>
    one.id === id
      ? refuse('member_group_ids would make the group a member of itself')
      : requireGroups(tx, namespaceId, one.memberGroupIds);
  const members = await requireGroups(tx, namespaceId, group.memberGroupIds);
  const below = await depthOf(members, membersOf, new Map());
  const above = await depthOf(
    await groupsWithGroup(tx, group),
    (one) => groupsWithGroup(tx, one),
    new Map(),
  );
  if (above + 1 + below > MAX_GROUP_DEPTH)
    refuse(`member_group_ids would make a chain of more than ${MAX_GROUP_DEPTH} groups`);
};

/**
 * Creates a group, or changes the one that is named.
 * @throws KeelsonError `request.invalid` for unknown ids, a name that is in use, members that make a circle, and
 *   values that are refused
 */
export const putGroup = (
  { store, clock }: IdentityContext,
  namespaceId: string,
  named: GivenName,
  changes: GroupChanges,
): Promise<Group> =>
  store.transact(async (tx) => {
    const nowMs = clock.nowMs();
    const before = await findNamed(tx, namespaceId, named);
    const given = named.name === undefined ? undefined : requireIdentityName('group', named.name);
    const drafted = before ?? newGroup(randomUUID(), namespaceId, given, changes.type, nowMs);
    const group = changedGroup(drafted, changes, nowMs);
    await requireMembers(tx, group);
    await writeGroup(tx, group);
    return group;
  });

/** Deletes a group with its alias; the groups that had it as a member lose it. Succeeds when there is no such group. */
export const deleteGroup = (
  { store, clock }: IdentityContext,
  namespaceId: string,
  { id, name }: GivenName,
): Promise<void> =>
  store.transact(async (tx) => {
    const group =
      id === undefined
        ? await findGroupByName(tx, namespaceId, name ?? '')
        : await findGroup(tx, namespaceId, id);
    if (group === undefined) return;
    for (const parent of await groupsWithGroup(tx, group))
      await writeGroup(tx, {
        ...parent,
        memberGroupIds: parent.memberGroupIds.filter((one) => one !== group.id),
        updatedAtMs: clock.nowMs(),
      });
    const alias = await findAliasOfGroup(tx, group);
    if (alias !== undefined) await deleteGroupAliasRecord(tx, alias);
    await deleteGroupRecord(tx, group);
  });

const show = async (reads: Reads, group: Group | undefined): Promise<ShownGroup | undefined> => {
  if (group === undefined) return undefined;
  const alias = await findAliasOfGroup(reads, group);
  return {
    group,
    alias,
    memberEntityIds:
      group.type === 'internal'
        ? group.memberEntityIds
        : alias === undefined
          ? []
          : await listEntitiesReportedAs(reads, alias),
    parentIds: (await groupsWithGroup(reads, group)).map(({ id }) => id),
  };
};

export const readGroup = async (
  { store }: IdentityContext,
  namespaceId: string,
  id: string,
): Promise<ShownGroup | undefined> => show(store, await findGroup(store, namespaceId, id));

export const readGroupByName = async (
  { store }: IdentityContext,
  namespaceId: string,
  name: string,
): Promise<ShownGroup | undefined> => show(store, await findGroupByName(store, namespaceId, name));

/** The group of an alias of this namespace. */
export const readGroupOfAlias = async (
  context: IdentityContext,
  namespaceId: string,
  named: { readonly id: string } | { readonly name: string; readonly mountAccessor: string },
): Promise<ShownGroup | undefined> => {
  const { store, mounts } = context;
  if ('id' in named) {
    const alias = await findGroupAlias(store, namespaceId, named.id);
    return alias && readGroup(context, namespaceId, alias.groupId);
  }
  const mount = (await mounts())
    .of(namespaceId, 'auth')
    .find(({ accessor }) => accessor === named.mountAccessor);
  const alias = mount && (await findGroupAliasByName(store, namespaceId, mount.uuid, named.name));
  return alias && readGroup(context, namespaceId, alias.groupId);
};

/** All groups of a namespace, sorted by id. */
export const listAllGroups = async (
  { store }: IdentityContext,
  namespaceId: string,
): Promise<readonly ShownGroup[]> => {
  const all: ShownGroup[] = [];
  for (const group of await listGroups(store, namespaceId)) {
    const shown = await show(store, group);
    if (shown !== undefined) all.push(shown);
  }
  return all;
};
