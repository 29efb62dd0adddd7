/** The variables of a set. */
import { newResourceId } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly, type Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import type { VariableInput } from '../variables/domain/variable.ts';
import { type NewVariable, newVariableContent } from '../variables/variable-operations.ts';
import type { SetVariable, VariableSet } from './domain/variable-set.ts';
import { requireVariableSet } from './variable-set-access-operations.ts';
import {
  loadSetVariables,
  setVariableRecords,
  variableSetRecords,
} from './variable-set-records.ts';
import { requireNoGlobalConflict, requireSetVariables } from './variable-set-rules.ts';

/** In order of creation. */
export const listSetVariables = async (
  reads: Reads,
  principal: Principal,
  setId: string,
): Promise<readonly SetVariable[]> => {
  const { set } = await requireVariableSet(reads, principal, setId, 'read');
  return loadSetVariables(readableOnly(reads), set);
};

/** A set's variable, as a request addresses it. */
export interface SetVariableAddress {
  readonly setId: string;
  readonly variableId: string;
}

/** @throws KeelsonError `workspace.not_found` */
export const requireSetVariable = async (
  reads: Reads,
  principal: Principal,
  { setId, variableId }: SetVariableAddress,
  need: 'read' | 'manage',
): Promise<{ readonly set: VariableSet; readonly variable: SetVariable }> => {
  const { set } = await requireVariableSet(reads, principal, setId, need);
  const variable = await setVariableRecords.find(reads, variableId);
  if (variable?.variableSetId !== setId) throw notFound('variable');
  return { set, variable };
};

const storeVariable = async (
  tx: Transaction,
  set: VariableSet,
  next: SetVariable,
  current: SetVariable | undefined,
  nowMs: number,
): Promise<SetVariable> => {
  const others = (await loadSetVariables(tx, set)).filter(({ id }) => id !== next.id);
  requireSetVariables([...others, next], [{ next, current, pointer: '/data' }]);
  await requireNoGlobalConflict(tx, set, [next], 'key');
  await setVariableRecords.write(tx, [next.id], next);
  const variableIds = current === undefined ? [...set.variableIds, next.id] : set.variableIds;
  await variableSetRecords.write(tx, [set.id], { ...set, variableIds, updatedAtMs: nowMs });
  return next;
};

export const createSetVariable = (
  { store, clock }: ServiceContext,
  principal: Principal,
  setId: string,
  given: NewVariable,
): Promise<SetVariable> =>
  store.transact(async (tx) => {
    const { set } = await requireVariableSet(tx, principal, setId, 'manage');
    const nowMs = clock.nowMs();
    const next = { ...newVariableContent(given, nowMs), variableSetId: setId };
    return storeVariable(tx, set, next, undefined, nowMs);
  });

export const updateSetVariable = (
  { store, clock }: ServiceContext,
  principal: Principal,
  address: SetVariableAddress,
  given: VariableInput,
): Promise<SetVariable> =>
  store.transact(async (tx) => {
    const { set, variable } = await requireSetVariable(tx, principal, address, 'manage');
    const next = { ...variable, ...given, versionId: newResourceId('vv') };
    return storeVariable(tx, set, next, variable, clock.nowMs());
  });

export const deleteSetVariable = (
  { store, clock }: ServiceContext,
  principal: Principal,
  address: SetVariableAddress,
): Promise<void> =>
  store.transact(async (tx) => {
    const { set, variable } = await requireSetVariable(tx, principal, address, 'manage');
    await setVariableRecords.delete(tx, variable.id);
    const variableIds = set.variableIds.filter((id) => id !== variable.id);
    const next = { ...set, variableIds, updatedAtMs: clock.nowMs() };
    await variableSetRecords.write(tx, [set.id], next);
  });
