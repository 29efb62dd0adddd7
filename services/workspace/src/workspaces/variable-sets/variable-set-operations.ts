/** Creates, lists, changes, applies and deletes variable sets. */
import { KeelsonError } from '@keelson/errors';
import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly, type Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { decideOrganizationPermissions } from '../../identity/access/domain/organization-permissions.ts';
import {
  type OrganizationAccessResult,
  requireOrganization,
} from '../../identity/access/organization-access-operations.ts';
import { requireProject, requireWorkspace } from '../access/access-operations.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { type NewVariable, newVariableContent } from '../variables/variable-operations.ts';
import {
  checkVariableSet,
  findScope,
  type SetVariable,
  type VariableSet,
} from './domain/variable-set.ts';
import {
  filterVisibleSets,
  requireVariableSet,
  type VariableSetAccess,
} from './variable-set-access-operations.ts';
import {
  isNameTaken,
  loadSetsAppliedTo,
  loadSetVariables,
  removeVariableSet,
  setVariableRecords,
  variableSetRecords,
} from './variable-set-records.ts';
import {
  requireNoGlobalConflict,
  requireSetVariables,
  requireTargets,
  type TargetKind,
} from './variable-set-rules.ts';

/** A request to create or change a set; absent attributes keep their values. */
export interface VariableSetInput {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly global?: boolean | undefined;
  readonly priority?: boolean | undefined;
  /** Replaces the targets that the set is applied to. */
  readonly workspaceIds?: readonly string[] | undefined;
  readonly projectIds?: readonly string[] | undefined;
  /** Added to the variables of the set. */
  readonly newVariables?: readonly NewVariable[] | undefined;
}

const NEW_VARIABLES = '/data/relationships/vars/data';

/** Checks a set as it is after a request, and stores it with its new variables. */
const storeChecked = async (
  tx: Transaction,
  principal: Principal,
  set: VariableSet,
  before: VariableSet | undefined,
  newVariables: readonly SetVariable[],
): Promise<VariableSet> => {
  refuseInvalid(checkVariableSet(set));
  if (await isNameTaken(tx, set)) {
    refuseInvalid([attributeViolation('name', 'Name has already been taken')]);
  }
  for (const [kind, ids, idsBefore] of [
    ['workspaces', set.workspaceIds, before?.workspaceIds],
    ['projects', set.projectIds, before?.projectIds],
  ] as const) {
    const added = ids.filter((id) => !idsBefore?.includes(id));
    const pointer = `/data/relationships/${kind}/data`;
    await requireTargets(tx, principal, set, { kind, ids: added, pointer });
  }
  const variables = [...(await loadSetVariables(tx, set)), ...newVariables];
  requireSetVariables(
    variables,
    newVariables.map((next, at) => ({
      next,
      current: undefined,
      pointer: `${NEW_VARIABLES}/${at}`,
    })),
  );
  await requireNoGlobalConflict(tx, set, variables, 'global');
  for (const variable of newVariables) {
    await setVariableRecords.write(tx, [variable.id], variable);
  }
  const stored = { ...set, variableIds: variables.map(({ id }) => id) };
  await variableSetRecords.write(tx, [set.id], stored);
  return stored;
};

const toSetVariables = (
  variableSetId: string,
  given: readonly NewVariable[] = [],
  nowMs: number,
): readonly SetVariable[] =>
  given.map((variable) => ({ ...newVariableContent(variable, nowMs), variableSetId }));

/** @param ownerProjectId undefined if the organization owns it */
export const createVariableSet = (
  { store, clock, variableSetsLimit }: WorkspacesContext,
  principal: Principal,
  organizationName: string,
  {
    newVariables,
    workspaceIds = [],
    projectIds = [],
    ...given
  }: VariableSetInput & { readonly name: string },
  ownerProjectId: string | undefined,
): Promise<VariableSetAccess> =>
  store.transact(async (tx) => {
    const owner = await requireOrganization(tx, principal, organizationName);
    const { organization, caller } = owner;
    if (ownerProjectId !== undefined) {
      const { project } = await requireProject(tx, principal, ownerProjectId, 'canManageVarsets');
      if (project.organizationId !== organization.id) throw notFound('project');
    } else if (!decideOrganizationPermissions(caller).canManageVarsets) {
      throw notFound('organization');
    }
    const others = await variableSetRecords.by.organizationId.keys(tx, organization.id, {
      limit: variableSetsLimit,
    });
    if (others.length >= variableSetsLimit) {
      throw new KeelsonError('workspace.conflict', {
        text: `an organization has at most ${variableSetsLimit} variable sets`,
      });
    }
    const nowMs = clock.nowMs();
    const id = newResourceId('varset');
    const set: VariableSet = {
      description: given.description ?? '',
      global: given.global ?? false,
      priority: given.priority ?? false,
      name: given.name,
      id,
      organizationId: organization.id,
      ownerProjectId: ownerProjectId ?? null,
      workspaceIds,
      projectIds,
      variableIds: [],
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    const variables = toSetVariables(id, newVariables, nowMs);
    return { ...owner, set: await storeChecked(tx, principal, set, undefined, variables) };
  });

export const updateVariableSet = (
  { store, clock }: WorkspacesContext,
  principal: Principal,
  setId: string,
  { newVariables, ...given }: VariableSetInput,
): Promise<VariableSetAccess> =>
  store.transact(async (tx) => {
    const access = await requireVariableSet(tx, principal, setId, 'manage');
    const { set: before } = access;
    const nowMs = clock.nowMs();
    const set: VariableSet = {
      ...before,
      name: given.name ?? before.name,
      description: given.description ?? before.description,
      global: given.global ?? before.global,
      priority: given.priority ?? before.priority,
      workspaceIds: given.workspaceIds ?? before.workspaceIds,
      projectIds: given.projectIds ?? before.projectIds,
      updatedAtMs: nowMs,
    };
    const variables = toSetVariables(setId, newVariables, nowMs);
    return { ...access, set: await storeChecked(tx, principal, set, before, variables) };
  });

export const deleteVariableSet = (
  { store }: WorkspacesContext,
  principal: Principal,
  setId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    await requireVariableSet(tx, principal, setId, 'manage');
    await removeVariableSet(tx, setId);
  });

/** Applies a set to workspaces or projects, or removes it from them. Other targets are unchanged. */
export const changeTargets = (
  { store, clock }: WorkspacesContext,
  principal: Principal,
  setId: string,
  kind: TargetKind,
  ids: readonly string[],
  change: 'add' | 'remove',
): Promise<void> =>
  store.transact(async (tx) => {
    const { set: before } = await requireVariableSet(tx, principal, setId, 'manage');
    const name = kind === 'workspaces' ? 'workspaceIds' : 'projectIds';
    if (change === 'add') {
      await requireTargets(tx, principal, before, { kind, ids, pointer: '/data' });
    }
    const others = before[name].filter((id) => !ids.includes(id));
    const next = change === 'add' ? [...new Set([...before[name], ...ids])] : others;
    const set = { ...before, [name]: next, updatedAtMs: clock.nowMs() };
    refuseInvalid(checkVariableSet(set));
    await variableSetRecords.write(tx, [setId], set);
  });

const toAccesses = (
  owner: OrganizationAccessResult,
  sets: readonly VariableSet[],
  search: string | undefined,
): readonly VariableSetAccess[] =>
  sets
    .filter(({ name }) => name.toLowerCase().includes(search?.toLowerCase() ?? ''))
    .toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)) || (a.id < b.id ? -1 : 1))
    .map((set) => ({ organization: owner.organization, caller: owner.caller, set }));

/**
 * Sets of the organization that the caller may see, by name.
 * @param search part of the name, ignoring case
 */
export const listVariableSets = async (
  reads: Reads,
  principal: Principal,
  organizationName: string,
  search: string | undefined,
): Promise<readonly VariableSetAccess[]> => {
  const owner = await requireOrganization(reads, principal, organizationName);
  const readable = readableOnly(reads);
  const sets = await variableSetRecords.by.organizationId.records(readable, owner.organization.id);
  return toAccesses(owner, await filterVisibleSets(readable, owner, sets), search);
};

/** Sets that reach the project, directly or through the organization, by name. */
export const listProjectVariableSets = async (
  reads: Reads,
  principal: Principal,
  projectId: string,
  search: string | undefined,
): Promise<readonly VariableSetAccess[]> => {
  const access = await requireProject(reads, principal, projectId, 'canReadVarsets');
  return toAccesses(
    access,
    await loadSetsAppliedTo(readableOnly(reads), [access.organization.id, projectId]),
    search,
  );
};

/** Sets that reach the workspace, by name. */
export const listWorkspaceVariableSets = async (
  reads: Reads,
  principal: Principal,
  workspaceId: string,
  search: string | undefined,
): Promise<readonly VariableSetAccess[]> => {
  const access = await requireWorkspace(reads, principal, { workspaceId }, 'canReadVariable');
  const { organization, workspace } = access;
  const targetIds = [organization.id, workspace.projectId, workspaceId];
  const sets = await loadSetsAppliedTo(readableOnly(reads), targetIds);
  const reaching = sets.filter((set) => findScope(set, workspace) !== undefined);
  return toAccesses(access, reaching, search);
};
