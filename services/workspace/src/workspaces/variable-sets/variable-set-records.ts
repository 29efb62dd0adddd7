import { createHash } from 'node:crypto';
import { collection, type Reads, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';
import {
  type SetVariable,
  setVariableShape,
  type VariableSet,
  variableSetShape,
} from './domain/variable-set.ts';

const memberShape = Type.Object({});

/** Keyed by `varset-…`. Written only by `storeVariableSet`, which maintains the indexes below. */
export const variableSetRecords = collection('variable-sets', {
  scope: 'shared',
  version: 1,
  shape: variableSetShape,
});

/** Owner (organization or project id), SHA-256 of the name -> set id. */
const variableSetNames = collection('variable-set-names', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ id: Type.String() }),
});

/** Organization id, set id. */
export const organizationVariableSets = collection('organization-variable-sets', {
  scope: 'shared',
  version: 1,
  shape: memberShape,
});

/** Id of the project that owns the set, set id. */
export const projectVariableSets = collection('project-variable-sets', {
  scope: 'shared',
  version: 1,
  shape: memberShape,
});

/** Target of a set (organization id if the set is global, `prj-…`, `ws-…`), set id. */
export const variableSetUses = collection('variable-set-uses', {
  scope: 'shared',
  version: 1,
  shape: memberShape,
});

/** Variables of sets, keyed by `var-…`; the set lists the ids of its variables. */
export const setVariableRecords = collection('variable-set-variables', {
  scope: 'shared',
  version: 1,
  shape: setVariableShape,
});

const nameKey = ({
  organizationId,
  ownerProjectId,
  name,
}: VariableSet): readonly [string, string] => [
  ownerProjectId ?? organizationId,
  createHash('sha256').update(name).digest('hex'),
];

const usesOf = ({ organizationId, global, projectIds, workspaceIds }: VariableSet): Set<string> =>
  new Set([...(global ? [organizationId] : []), ...projectIds, ...workspaceIds]);

/** Whether another set of the same owner has the name. */
export const isNameTaken = async (reads: Reads, set: VariableSet): Promise<boolean> => {
  const found = await variableSetNames.find(reads, ...nameKey(set));
  return found !== undefined && found.id !== set.id;
};

/** @param before the stored set; undefined for a new one */
export const storeVariableSet = (
  tx: Transaction,
  set: VariableSet,
  before: VariableSet | undefined,
): void => {
  if (before === undefined) {
    organizationVariableSets.write(tx, [set.organizationId, set.id], {});
    if (set.ownerProjectId !== null) {
      projectVariableSets.write(tx, [set.ownerProjectId, set.id], {});
    }
  }
  if (before?.name !== set.name) {
    if (before !== undefined) variableSetNames.delete(tx, ...nameKey(before));
    variableSetNames.write(tx, nameKey(set), { id: set.id });
  }
  const uses = usesOf(set);
  const usesBefore = before === undefined ? new Set<string>() : usesOf(before);
  for (const target of usesBefore.difference(uses)) variableSetUses.delete(tx, target, set.id);
  for (const target of uses.difference(usesBefore)) variableSetUses.write(tx, [target, set.id], {});
  variableSetRecords.write(tx, [set.id], set);
};

/** Removes a set with its variables. */
export const removeVariableSet = (tx: Transaction, set: VariableSet): void => {
  variableSetRecords.delete(tx, set.id);
  variableSetNames.delete(tx, ...nameKey(set));
  organizationVariableSets.delete(tx, set.organizationId, set.id);
  if (set.ownerProjectId !== null) projectVariableSets.delete(tx, set.ownerProjectId, set.id);
  for (const target of usesOf(set)) variableSetUses.delete(tx, target, set.id);
  for (const id of set.variableIds) setVariableRecords.delete(tx, id);
};

/** Sets by id; deleted ones are left out. */
export const loadVariableSets = async (
  reads: Reads,
  ids: readonly string[],
): Promise<readonly VariableSet[]> => {
  const found = await Promise.all(ids.map((id) => variableSetRecords.find(reads, id)));
  return found.filter((set) => set !== undefined);
};

/** The sets applied to one of these targets: organization (global sets), projects, workspaces. */
export const loadSetsAppliedTo = async (
  reads: Reads,
  targetIds: readonly string[],
): Promise<readonly VariableSet[]> => {
  const ids = await Promise.all(targetIds.map((id) => variableSetUses.keys(reads, [id])));
  return loadVariableSets(reads, [...new Set(ids.flat())]);
};

/** Variables of a set, in order of creation. */
export const loadSetVariables = async (
  reads: Reads,
  { variableIds }: VariableSet,
): Promise<readonly SetVariable[]> => {
  const found = await Promise.all(variableIds.map((id) => setVariableRecords.find(reads, id)));
  return found.filter((variable) => variable !== undefined);
};
