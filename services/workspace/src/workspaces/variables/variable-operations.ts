import { KeelsonError } from '@keelson/errors';
import { newResourceId, refuseInvalid, type Violation } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly, type Transaction, unlessDamaged } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import {
  requireWorkspace,
  type WorkspaceAccessResult,
  type WorkspaceAddress,
} from '../access/access-operations.ts';
import type { Workspace, WorkspaceVariables } from '../model/domain/workspace.ts';
import {
  findWorkspaceVariables,
  writeWorkspaceVariables,
} from '../model/workspace-variables-records.ts';
import {
  checkVariable,
  type Variable,
  type VariableContent,
  type VariableInput,
} from './domain/variable.ts';
import { variableRecords } from './variable-records.ts';

/** Maximum number of variables of a workspace, and of a variable set. */
export const MAX_VARIABLES = 1000;

/** The variables with these ids, in this order. */
export const loadVariables = async (
  reads: Reads,
  { ids }: WorkspaceVariables,
): Promise<readonly Variable[]> => {
  const found = await Promise.all(ids.map((id) => variableRecords.find(reads, id)));
  return found.filter((variable) => variable !== undefined);
};

/** The ids of a workspace's variables, by their index if the list cannot be read; the next change replaces it. */
const loadIds = async (tx: Transaction, workspace: Workspace): Promise<WorkspaceVariables> =>
  (await unlessDamaged(findWorkspaceVariables(tx, workspace))) ?? {
    ids: await variableRecords.by.workspaceId.keys(tx, workspace.id),
  };

export const listVariables = async (
  { store }: ServiceContext,
  principal: Principal,
  address: WorkspaceAddress,
): Promise<readonly Variable[]> => {
  const { workspace } = await requireWorkspace(store, principal, address, 'canReadVariable');
  return loadVariables(readableOnly(store), await findWorkspaceVariables(store, workspace));
};

/** A variable as a request addresses it: below its workspace, or by its id alone. */
export interface VariableAddress {
  readonly variableId: string;
  readonly workspaceId?: string | undefined;
}

interface VariableAccessResult extends WorkspaceAccessResult {
  readonly variable: Variable;
}

/** @throws KeelsonError `workspace.not_found` */
export const requireVariable = async (
  reads: Reads,
  principal: Principal,
  { variableId, workspaceId }: VariableAddress,
  permission: 'canReadVariable' | 'canUpdateVariable' = 'canReadVariable',
): Promise<VariableAccessResult> => {
  const variable = await variableRecords.find(reads, variableId);
  if (variable === undefined || variable.workspaceId !== (workspaceId ?? variable.workspaceId)) {
    throw notFound('variable');
  }
  const address = { workspaceId: variable.workspaceId };
  return { ...(await requireWorkspace(reads, principal, address, permission)), variable };
};

const checkAmongOthers = async (
  reads: Reads,
  all: WorkspaceVariables,
  next: Variable,
  current: Variable | undefined,
): Promise<void> => {
  const others = (await loadVariables(reads, all)).filter(({ id }) => id !== next.id);
  refuseInvalid(checkVariable(next, current, others));
};

export type NewVariable = VariableInput & Pick<Variable, 'key' | 'category'>;

/** A new variable with a new id, from a create request. */
export const newVariableContent = (given: NewVariable, createdAtMs: number): VariableContent => ({
  value: '',
  description: null,
  hcl: false,
  sensitive: false,
  ...given,
  id: newResourceId('var'),
  versionId: newResourceId('vv'),
  createdAtMs,
});

const toVariable = (workspaceId: string, given: NewVariable, createdAtMs: number): Variable => ({
  ...newVariableContent(given, createdAtMs),
  workspaceId,
});

const refuseTooMany = (count: number): void => {
  if (count <= MAX_VARIABLES) return;
  throw new KeelsonError('workspace.conflict', {
    text: `a workspace holds at most ${MAX_VARIABLES} variables`,
  });
};

export const createVariable = (
  { store, clock }: ServiceContext,
  principal: Principal,
  workspaceId: string,
  given: NewVariable,
): Promise<Variable> =>
  store.transact(async (tx) => {
    const { workspace } = await requireWorkspace(
      tx,
      principal,
      { workspaceId },
      'canUpdateVariable',
    );
    const before = await loadIds(tx, workspace);
    refuseTooMany(before.ids.length + 1);
    const variable = toVariable(workspaceId, given, clock.nowMs());
    await checkAmongOthers(tx, before, variable, undefined);
    await variableRecords.write(tx, [variable.id], variable);
    await writeWorkspaceVariables(tx, workspace, [...before.ids, variable.id]);
    return variable;
  });

export const updateVariable = (
  { store }: ServiceContext,
  principal: Principal,
  address: VariableAddress,
  given: VariableInput,
): Promise<Variable> =>
  store.transact(async (tx) => {
    const { variable, workspace } = await requireVariable(
      tx,
      principal,
      address,
      'canUpdateVariable',
    );
    const next: Variable = { ...variable, ...given, versionId: newResourceId('vv') };
    await checkAmongOthers(tx, await loadIds(tx, workspace), next, variable);
    await variableRecords.write(tx, [variable.id], next);
    return next;
  });

export const deleteVariable = (
  { store }: ServiceContext,
  principal: Principal,
  address: VariableAddress,
): Promise<void> =>
  store.transact(async (tx) => {
    const { variable, workspace } = await requireVariable(
      tx,
      principal,
      address,
      'canUpdateVariable',
    );
    const { ids } = await loadIds(tx, workspace);
    await variableRecords.delete(tx, variable.id);
    await writeWorkspaceVariables(
      tx,
      workspace,
      ids.filter((id) => id !== variable.id),
    );
  });

/** One of several changes; without an id it applies to the variable with the same key and category. */
export type VariableChange = VariableInput & { readonly id?: string | undefined };

const isComplete = (given: VariableInput): given is NewVariable =>
  given.key !== undefined && given.category !== undefined;

/** The variable after one change of a batch; `undefined` when the change lacks a required value. */
const decideChanged = (
  { id, ...given }: VariableChange,
  variables: ReadonlyMap<string, Variable>,
  workspaceId: string,
  nowMs: number,
): Variable | undefined => {
  const current =
    id === undefined
      ? [...variables.values()].find(
          ({ key, category }) => key === given.key && category === given.category,
        )
      : variables.get(id);
  if (current !== undefined) return { ...current, ...given, versionId: newResourceId('vv') };
  if (id !== undefined) throw notFound('variable');
  return isComplete(given) ? toVariable(workspaceId, given, nowMs) : undefined;
};

/** Creates and changes variables, all of them or none. Other variables are unchanged. */
export const changeVariables = (
  { store, clock }: ServiceContext,
  principal: Principal,
  workspaceId: string,
  changes: readonly VariableChange[],
): Promise<void> =>
  store.transact(async (tx) => {
    const { workspace } = await requireWorkspace(
      tx,
      principal,
      { workspaceId },
      'canUpdateVariable',
    );
    const before = new Map(
      (await loadVariables(tx, await loadIds(tx, workspace))).map((variable) => [
        variable.id,
        variable,
      ]),
    );
    const variables = new Map(before);
    const violations: Violation[] = [];
    for (const [at, change] of changes.entries()) {
      const next = decideChanged(change, variables, workspaceId, clock.nowMs());
      if (next === undefined) {
        violations.push({
          pointer: `/data/${at}/attributes`,
          text: 'key and category are required',
        });
        continue;
      }
      const others = [...variables.values()].filter(({ id }) => id !== next.id);
      for (const { pointer, text } of checkVariable(next, variables.get(next.id), others)) {
        violations.push({ pointer: pointer.replace('/data/', `/data/${at}/`), text });
      }
      variables.set(next.id, next);
    }
    refuseInvalid(violations);
    refuseTooMany(variables.size);
    for (const [id, variable] of variables) {
      if (variable !== before.get(id)) await variableRecords.write(tx, [id], variable);
    }
    await writeWorkspaceVariables(tx, workspace, [...variables.keys()]);
  });
