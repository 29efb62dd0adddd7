import { KeelsonError } from '@keelson/errors';
import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import {
  notFound,
  requireWorkspace,
  type WorkspaceAccessResult,
  type WorkspaceAddress,
} from '../access/access-operations.ts';
import type { ServiceContext } from '../service-context.ts';
import type { Workspace } from '../workspaces/domain/workspace.ts';
import { workspaceRecords } from '../workspaces/workspace-records.ts';
import { checkVariable, type GivenVariable, type Variable } from './domain/variable.ts';
import { variableRecords } from './variable-records.ts';

const MAX_VARIABLES = 1000;

/** Variables of a workspace, in order of creation. */
export const loadVariables = async (
  reads: Reads,
  { variableIds }: Workspace,
): Promise<readonly Variable[]> => {
  const found = await Promise.all(variableIds.map((id) => variableRecords.find(reads, id)));
  return found.filter((variable) => variable !== undefined);
};

export const listVariables = async (
  { store }: ServiceContext,
  principal: Principal,
  address: WorkspaceAddress,
): Promise<readonly Variable[]> => {
  const { workspace } = await requireWorkspace(store, principal, address, 'canReadVariable');
  return loadVariables(store, workspace);
};

/** Where a request finds a variable: below its workspace, or by its id alone. */
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
  workspace: Workspace,
  next: Variable,
  current: Variable | undefined,
): Promise<void> => {
  const others = (await loadVariables(reads, workspace)).filter(({ id }) => id !== next.id);
  refuseInvalid(checkVariable(next, current, others));
};

export const createVariable = (
  { store, clock }: ServiceContext,
  principal: Principal,
  workspaceId: string,
  given: GivenVariable & Pick<Variable, 'key' | 'category'>,
): Promise<Variable> =>
  store.transact(async (tx) => {
    const { workspace } = await requireWorkspace(
      tx,
      principal,
      { workspaceId },
      'canUpdateVariable',
    );
    if (workspace.variableIds.length >= MAX_VARIABLES) {
      throw new KeelsonError('workspace.conflict', {
        text: `a workspace holds at most ${MAX_VARIABLES} variables`,
      });
    }
    const variable: Variable = {
      value: '',
      description: null,
      hcl: false,
      sensitive: false,
      ...given,
      id: newResourceId('var'),
      workspaceId,
      versionId: newResourceId('vv'),
      createdAtMs: clock.nowMs(),
    };
    await checkAmongOthers(tx, workspace, variable, undefined);
    variableRecords.write(tx, [variable.id], variable);
    const variableIds = [...workspace.variableIds, variable.id];
    workspaceRecords.write(tx, [workspaceId], { ...workspace, variableIds });
    return variable;
  });

export const updateVariable = (
  { store }: ServiceContext,
  principal: Principal,
  address: VariableAddress,
  given: GivenVariable,
): Promise<Variable> =>
  store.transact(async (tx) => {
    const { variable, workspace } = await requireVariable(
      tx,
      principal,
      address,
      'canUpdateVariable',
    );
    const next: Variable = { ...variable, ...given, versionId: newResourceId('vv') };
    await checkAmongOthers(tx, workspace, next, variable);
    variableRecords.write(tx, [variable.id], next);
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
    variableRecords.delete(tx, variable.id);
    const variableIds = workspace.variableIds.filter((id) => id !== variable.id);
    workspaceRecords.write(tx, [workspace.id], { ...workspace, variableIds });
  });
