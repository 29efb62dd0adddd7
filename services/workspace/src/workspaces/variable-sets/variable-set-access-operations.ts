/**
 * Permissions on variable sets. Managing a set of the organization requires managing the organization's
 * workspaces; for a set of a project, `variable-sets: write` there is enough. A set is visible to callers who
 * see the whole organization, who may read the sets of a project that owns it or that it is applied to, or
 * who may read the variables of a workspace that it reaches.
 */
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import {
  type CallerAccess,
  seesWholeOrganization,
} from '../../identity/access/domain/caller-access.ts';
import { decideOrganizationPermissions } from '../../identity/access/domain/organization-permissions.ts';
import {
  type OrganizationAccessResult,
  requireOrganizationOf,
} from '../../identity/access/organization-access-operations.ts';
import { loadProjectPermissions } from '../access/access-operations.ts';
import { toProjectGrant, toWorkspaceRights } from '../access/domain/team-grants.ts';
import { teamProjectGrants, teamWorkspaceGrants } from '../access/grant-records.ts';
import type { Workspace } from '../model/domain/workspace.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import { findScope, type VariableSet } from './domain/variable-set.ts';
import { variableSetRecords } from './variable-set-records.ts';

export interface VariableSetAccess extends OrganizationAccessResult {
  readonly set: VariableSet;
}

/** Workspaces and projects in which the caller's teams may read variables. */
interface Reach {
  readonly workspaces: readonly Workspace[];
  /** Projects in whose workspaces the caller may read variables. */
  readonly variableProjectIds: ReadonlySet<string>;
  /** Projects whose variable sets the caller may read. */
  readonly setProjectIds: ReadonlySet<string>;
}

const loadReach = async (reads: Reads, { teamIds }: CallerAccess): Promise<Reach> => {
  const workspaces: Workspace[] = [];
  const variableProjectIds = new Set<string>();
  const setProjectIds = new Set<string>();
  for (const teamId of teamIds) {
    for (const projectId of await teamProjectGrants.keys(reads, [teamId])) {
      const found = await teamProjectGrants.find(reads, teamId, projectId);
      if (found === undefined) continue;
      const { projectAccess, workspaceAccess } = toProjectGrant(found.access, found.custom);
      if (workspaceAccess.variables !== 'none') variableProjectIds.add(projectId);
      if (projectAccess.variableSets !== 'none') setProjectIds.add(projectId);
    }
    for (const workspaceId of await teamWorkspaceGrants.keys(reads, [teamId])) {
      const found = await teamWorkspaceGrants.find(reads, teamId, workspaceId);
      if (found === undefined) continue;
      if (toWorkspaceRights(found.access, found.custom).variables === 'none') continue;
      const workspace = await workspaceRecords.find(reads, workspaceId);
      if (workspace !== undefined) workspaces.push(workspace);
    }
  }
  return { workspaces, variableProjectIds, setProjectIds };
};

const isReached = async (reads: Reads, set: VariableSet, reach: Reach): Promise<boolean> => {
  const { workspaces, variableProjectIds, setProjectIds } = reach;
  if (workspaces.some((workspace) => findScope(set, workspace) !== undefined)) return true;
  if (set.global) return variableProjectIds.size > 0 || setProjectIds.size > 0;
  if (set.ownerProjectId !== null && setProjectIds.has(set.ownerProjectId)) return true;
  if (set.projectIds.some((id) => setProjectIds.has(id) || variableProjectIds.has(id))) return true;
  if (variableProjectIds.size === 0) return false;
  const applied = await Promise.all(set.workspaceIds.map((id) => workspaceRecords.find(reads, id)));
  return applied.some(
    (workspace) => workspace !== undefined && variableProjectIds.has(workspace.projectId),
  );
};

/** The given sets of one organization that the caller may see. */
export const filterVisibleSets = async (
  reads: Reads,
  { caller }: OrganizationAccessResult,
  sets: readonly VariableSet[],
): Promise<readonly VariableSet[]> => {
  if (seesWholeOrganization(caller)) return sets;
  const reach = await loadReach(reads, caller);
  const seen = await Promise.all(sets.map((set) => isReached(reads, set, reach)));
  return sets.filter((_, at) => seen[at]);
};

const mayManage = async (
  reads: Reads,
  { caller, organization }: OrganizationAccessResult,
  { ownerProjectId }: VariableSet,
): Promise<boolean> =>
  ownerProjectId === null
    ? decideOrganizationPermissions(caller).canManageVarsets
    : (await loadProjectPermissions(reads, caller, organization, ownerProjectId)).canManageVarsets;

/**
 * @param need `manage` for every change of the set, its variables and its targets
 * @throws KeelsonError `workspace.not_found`
 */
export const requireVariableSet = async (
  reads: Reads,
  principal: Principal,
  setId: string,
  need: 'read' | 'manage',
): Promise<VariableSetAccess> => {
  const set = await variableSetRecords.find(reads, setId);
  if (set === undefined) throw notFound('variable set');
  const owner = await requireOrganizationOf(reads, principal, set.organizationId, 'variable set');
  const isAllowed =
    need === 'manage'
      ? await mayManage(reads, owner, set)
      : (await filterVisibleSets(readableOnly(reads), owner, [set])).length > 0;
  if (!isAllowed) throw notFound('variable set');
  return { ...owner, set };
};
