import { createHash } from 'node:crypto';
import { collection, deleteOwned, type Reads, type Transaction } from '@keelson/storage';
import {
  type SetVariable,
  setVariableShape,
  type VariableSet,
  variableSetShape,
} from './domain/variable-set.ts';

/** The project or organization that owns the set, SHA-256 of the name. */
const nameKey = ({
  organizationId,
  ownerProjectId,
  name,
}: VariableSet): readonly [string, string] => [
  ownerProjectId ?? organizationId,
  createHash('sha256').update(name).digest('hex'),
];

/** The organization if the set is global, projects and workspaces. */
const targetsOf = ({
  organizationId,
  global,
  projectIds,
  workspaceIds,
}: VariableSet): readonly string[] => [
  ...(global ? [organizationId] : []),
  ...projectIds,
  ...workspaceIds,
];

/** Keyed by `varset-…`. */
export const variableSetRecords = collection('variable-sets', {
  scope: 'shared',
  version: 1,
  shape: variableSetShape,
  kind: 'variable-set',
  owner: [
    { kind: 'organization', by: 'organizationId' },
    { kind: 'project', by: 'ownerProjectId' },
  ],
  index: [
    'organizationId',
    'ownerProjectId',
    { name: 'name', values: (set) => [nameKey(set)] },
    { name: 'target', values: targetsOf },
  ],
});

/** Variables of sets, keyed by `var-…`; the set lists the ids of its variables. */
export const setVariableRecords = collection('variable-set-variables', {
  scope: 'shared',
  version: 1,
  shape: setVariableShape,
  owner: { kind: 'variable-set', by: 'variableSetId' },
  index: ['variableSetId'],
});

/** Whether another set of the same owner has the name. */
export const isNameTaken = async (reads: Reads, set: VariableSet): Promise<boolean> => {
  const ids = await variableSetRecords.by.name.keys(reads, nameKey(set));
  return ids.some((id) => id !== set.id);
};

/** Removes a set with its variables. */
export const removeVariableSet = async (tx: Transaction, id: string): Promise<void> => {
  await deleteOwned(tx, { kind: 'variable-set', id });
  await variableSetRecords.delete(tx, id);
};

/** The sets applied to one of these targets: organization (global sets), projects, workspaces. */
export const loadSetsAppliedTo = async (
  reads: Reads,
  targetIds: readonly string[],
): Promise<readonly VariableSet[]> => {
  const found = await Promise.all(
    targetIds.map((id) => variableSetRecords.by.target.records(reads, id)),
  );
  return [...new Map(found.flat().map((set) => [set.id, set])).values()];
};

/** Variables of a set, in order of creation. */
export const loadSetVariables = async (
  reads: Reads,
  { variableIds }: VariableSet,
): Promise<readonly SetVariable[]> => {
  const found = await Promise.all(variableIds.map((id) => setVariableRecords.find(reads, id)));
  return found.filter((variable) => variable !== undefined);
};
