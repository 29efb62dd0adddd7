/** Ownership of every declared kind of record, and what a paths filter makes of it. */
import { declaredAreas, mountGroup, namespaceGroup, recordGroups } from '@keelson/replication';
import { type Declaration, declaredRecords } from '@keelson/storage';
import { expect, test } from 'vitest';
// Loads every module of every service, and with it every declaration.
import '../src/compose.ts';

const GROUPS = { mount: mountGroup, namespace: namespaceGroup } as const;
type GroupKind = keyof typeof GROUPS;

const groups = recordGroups(declaredAreas());
const declared = declaredRecords();
const ID = 'id';

/** Paths of a replicated record of a mount or namespace with `ID`, with the group that filters it. */
const examples = ({
  name,
  kind,
  owners: own,
  scopes,
  isSingle,
  indexOf,
  namesOwner,
}: Declaration) => {
  // The rows of an index of the owner are withheld with the records.
  const owners =
    namesOwner === true
      ? declared.filter((one) => one.name === indexOf).flatMap((one) => one.owners)
      : own;
  if (!scopes.includes('shared')) return [];
  if (kind !== undefined && kind in GROUPS)
    return [[`shared/${name}/${ID}`, GROUPS[kind as GroupKind](ID)] as const];
  return owners
    .filter((owner) => owner.kind in GROUPS)
    .map((owner) => {
      const place = name.includes('*') ? name.replace('*', ID) : `${name}/${ID}`;
      const path = isSingle || owner.isKey === true ? place : `${place}/more/of/it`;
      return [`shared/${path}`, GROUPS[owner.kind as GroupKind](ID)] as const;
    });
};

/** "*" stands for the kind of a replication set, which nobody deletes. */
const isOfReplication = ({ name }: Declaration): boolean => name.startsWith('replication/*/');

test('the id in a path is that of an owner, so that no record outlives what its path names', () => {
  const ownerless = declared.filter(
    (one) => one.name.includes('*') && one.owners.length === 0 && !isOfReplication(one),
  );
  expect(ownerless.map(({ name }) => name)).toEqual([]);
});

test('every replicated record of a mount or namespace is in its group, and below a prefix of it', () => {
  const found = declared.flatMap(examples);
  expect(found.length).toBeGreaterThan(25);
  for (const [path, group] of found) {
    expect([path, groups.groupOf(path)]).toEqual([path, group]);
    const prefixes = groups.prefixesOf(group);
    expect([path, prefixes.filter((prefix) => path.startsWith(prefix)).length]).toEqual([path, 1]);
  }
});

test('records of no mount and no namespace are in no group', () => {
  for (const { name } of declared.filter(
    (one) => one.scopes.includes('shared') && examples(one).length === 0,
  ))
    expect([name, groups.groupOf(`shared/${name}/key`)]).toEqual([name, undefined]);
});
