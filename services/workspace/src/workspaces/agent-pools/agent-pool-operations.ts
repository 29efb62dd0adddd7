import { createNetworks } from '@keelson/edge/networks';
import { KeelsonError } from '@keelson/errors';
import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { deleteOwned, type Reads, readableOnly, type Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { attributeViolation, type Violation } from '../../base/validation/domain/violation.ts';
import { seesWholeOrganization } from '../../identity/access/domain/caller-access.ts';
import { decideOrganizationPermissions } from '../../identity/access/domain/organization-permissions.ts';
import {
  type OrganizationAccessResult,
  requireOrganization,
  requireOrganizationOf,
} from '../../identity/access/organization-access-operations.ts';
import {
  findReadableProject,
  loadProjectPermissions,
  loadWorkspaceAccess,
} from '../access/access-operations.ts';
import { findVisibleIds } from '../listing/visible-scope.ts';
import { agentPoolRecords, agentPoolUsers } from '../model/agent-pool-records.ts';
import {
  type AgentPool,
  isAgentPoolName,
  isHostPattern,
  isOpenTo,
  type PoolUser,
} from '../model/domain/agent-pool.ts';
import { projectRecords } from '../model/project-records.ts';
import { findWorkspaceByName, workspaceRecords } from '../model/workspace-records.ts';
import type { RemovalContext, WorkspacesContext } from '../seams/workspaces-context.ts';

export type AgentPoolInput = Partial<
  Pick<
    AgentPool,
    | 'name'
    | 'organizationScoped'
    | 'allowedWorkspaceIds'
    | 'allowedProjectIds'
    | 'excludedWorkspaceIds'
    | 'allowedEgress'
  >
>;

export interface AgentPoolAccessResult extends OrganizationAccessResult {
  readonly pool: AgentPool;
  /** Whether the caller may change the pool and create tokens for it. */
  readonly canManage: boolean;
}

const mayManage = ({ caller }: OrganizationAccessResult): boolean =>
  decideOrganizationPermissions(caller).canUpdateAgentPools;

/**
 * Every member of the organization may see its pools.
 * @throws KeelsonError `workspace.not_found`
 */
export const requireAgentPool = async (
  reads: Reads,
  principal: Principal,
  poolId: string,
  needs: 'canRead' | 'canManage' = 'canRead',
): Promise<AgentPoolAccessResult> => {
  const pool = await agentPoolRecords.find(reads, poolId);
  if (pool === undefined) throw notFound('agent pool');
  const owner = await requireOrganizationOf(reads, principal, pool.organizationId, 'agent pool');
  const canManage = mayManage(owner);
  if (needs === 'canManage' && !canManage) throw notFound('agent pool');
  return { ...owner, pool, canManage };
};

/** Checks that the workspaces and projects in a request exist. */
const checkNamed = async (
  reads: Reads,
  organizationId: string,
  given: AgentPoolInput,
): Promise<readonly Violation[]> => {
  const check = async (
    name: string,
    ids: readonly string[] = [],
    find: (id: string) => Promise<{ readonly organizationId: string } | undefined>,
  ): Promise<readonly Violation[]> => {
    const found = await Promise.all(ids.map(find));
    return found.flatMap((target, at) =>
      target?.organizationId === organizationId
        ? []
        : [{ pointer: `/data/relationships/${name}/data/${at}/id`, text: 'not found' }],
    );
  };
  const findWorkspace = (id: string) => workspaceRecords.find(reads, id);
  const checked = await Promise.all([
    check('allowed-workspaces', given.allowedWorkspaceIds, findWorkspace),
    check('allowed-projects', given.allowedProjectIds, (id) => projectRecords.find(reads, id)),
    check('excluded-workspaces', given.excludedWorkspaceIds, findWorkspace),
  ]);
  return checked.flat();
};

const loadUser = async (
  reads: Reads,
  { organizationId }: AgentPool,
  kind: PoolUser['kind'],
  id: string,
): Promise<PoolUser | undefined> => {
  if (kind !== 'workspace') return { kind, id, organizationId };
  const workspace = await workspaceRecords.find(reads, id);
  return workspace && { kind, id, organizationId, projectId: workspace.projectId };
};

/** Workspaces and projects that name the pool keep access to it. */
const checkUsers = async (reads: Reads, pool: AgentPool): Promise<readonly Violation[]> => {
  const violations: Violation[] = [];
  for (const id of await agentPoolUsers.keys(reads, [pool.id])) {
    const use = await agentPoolUsers.find(reads, pool.id, id);
    // An OAuth client is no user of runs, which the lists of a pool are about.
    if (use === undefined || use.kind === 'oauth-client') continue;
    const user = await loadUser(reads, pool, use.kind, id);
    if (user !== undefined && !isOpenTo(pool, user)) {
      const text = `the agent pool is in use by ${user.kind} ${id}`;
      violations.push(
        pool.excludedWorkspaceIds.includes(id)
          ? { pointer: '/data/relationships/excluded-workspaces', text }
          : attributeViolation('organization-scoped', text),
      );
    }
  }
  return violations;
};

const NAME_RULE =
  'Name can only include letters, numbers, spaces, -, _, ., +, and @, 1 to 90 in all';

const requireName = async (
  reads: Reads,
  { id, name, organizationId }: AgentPool,
): Promise<void> => {
  if (!isAgentPoolName(name)) refuseInvalid([attributeViolation('name', NAME_RULE)]);
  const ids = await agentPoolRecords.by.name.keys(reads, [organizationId, name]);
  if (ids.some((other) => other !== id)) {
    refuseInvalid([attributeViolation('name', 'Name has already been taken')]);
  }
};

const isNetwork = (text: string): boolean => {
  try {
    createNetworks([text]);
    return true;
  } catch {
    return false;
  }
};

const checkEgress = ({ allowedEgress }: AgentPoolInput): readonly Violation[] =>
  (allowedEgress ?? [])
    .filter((entry) => !isHostPattern(entry) && !isNetwork(entry))
    .map((entry) =>
      attributeViolation(
        'allowed-egress',
        `${JSON.stringify(entry)} is neither an IP address, a CIDR range, the name of a host, nor *. and the name of a domain`,
      ),
    );

export const createAgentPool = (
  { store, clock }: WorkspacesContext,
  principal: Principal,
  organizationName: string,
  given: AgentPoolInput & Pick<AgentPool, 'name'>,
): Promise<AgentPoolAccessResult> =>
  store.transact(async (tx) => {
    const owner = await requireOrganization(tx, principal, organizationName);
    if (!mayManage(owner)) throw notFound('organization');
    const pool: AgentPool = {
      organizationScoped: true,
      allowedWorkspaceIds: [],
      allowedProjectIds: [],
      excludedWorkspaceIds: [],
      allowedEgress: null,
      ...given,
      id: newResourceId('apool'),
      organizationId: owner.organization.id,
      createdAtMs: clock.nowMs(),
    };
    await requireName(tx, pool);
    refuseInvalid([...(await checkNamed(tx, pool.organizationId, given)), ...checkEgress(given)]);
    await agentPoolRecords.write(tx, [pool.id], pool);
    return { ...owner, pool, canManage: true };
  });

export const updateAgentPool = (
  { store }: WorkspacesContext,
  principal: Principal,
  poolId: string,
  given: AgentPoolInput,
): Promise<AgentPoolAccessResult> =>
  store.transact(async (tx) => {
    const access = await requireAgentPool(tx, principal, poolId, 'canManage');
    const pool: AgentPool = { ...access.pool, ...given };
    if (pool.name !== access.pool.name) await requireName(tx, pool);
    refuseInvalid([
      ...(await checkNamed(tx, pool.organizationId, given)),
      ...(await checkUsers(tx, pool)),
      ...checkEgress(given),
    ]);
    await agentPoolRecords.write(tx, [pool.id], pool);
    return { ...access, pool };
  });

/** Removes a pool with its tokens and with its links to workspaces and projects. */
export const removeAgentPool = async (
  { workspaceSteps, clock }: RemovalContext,
  tx: Transaction,
  pool: AgentPool,
): Promise<void> => {
  for (const step of workspaceSteps) await step.onAgentPoolRemoved?.(tx, pool, clock.nowMs());
  await deleteOwned(tx, { kind: 'agent-pool', id: pool.id });
  await agentPoolRecords.delete(tx, pool.id);
};

/**
 * Deletes a pool that no workspace, project, organization or OAuth client names.
 * @throws KeelsonError `workspace.conflict`
 */
export const deleteAgentPool = (
  context: WorkspacesContext,
  principal: Principal,
  poolId: string,
): Promise<void> =>
  context.store.transact(async (tx) => {
    const { pool } = await requireAgentPool(tx, principal, poolId, 'canManage');
    const [user] = await agentPoolUsers.keys(tx, [pool.id], { limit: 1 });
    if (user !== undefined) {
      throw new KeelsonError('workspace.conflict', { text: `the agent pool is in use by ${user}` });
    }
    await removeAgentPool(context, tx, pool);
  });

/** Pools whose name holds `search`, by name. */
export const AGENT_POOL_SORTS = ['name', 'created-at'] as const;

export interface AgentPoolFilter {
  /** By name if absent. */
  readonly sort?:
    | { readonly by: (typeof AGENT_POOL_SORTS)[number]; readonly isDescending: boolean }
    | undefined;
  /** Part of the name, in any case. */
  readonly search?: string | undefined;
  /**
   * Name of a workspace or project that may use the pool. A name that the caller may not see matches no pool.
   */
  readonly workspaceName?: string | undefined;
  readonly projectName?: string | undefined;
}

/** The workspace and project named in the filter; undefined when the caller may not see one of them. */
const findNamedUsers = async (
  reads: Reads,
  owner: OrganizationAccessResult,
  { workspaceName, projectName }: AgentPoolFilter,
): Promise<readonly PoolUser[] | undefined> => {
  const organizationId = owner.organization.id;
  const users: PoolUser[] = [];
  if (workspaceName !== undefined) {
    const stored = await findWorkspaceByName(reads, organizationId, workspaceName);
    const access = stored && (await loadWorkspaceAccess(reads, owner, stored));
    if (access === undefined || !access.permissions.canReadSettings) return undefined;
    const { id, projectId } = access.workspace;
    users.push({ kind: 'workspace', id, organizationId, projectId });
  }
  if (projectName !== undefined) {
    const [id] = await projectRecords.by.name.keys(reads, [organizationId, projectName]);
    if (id === undefined) return undefined;
    const permissions = await loadProjectPermissions(reads, owner.caller, owner.organization, id);
    if (!permissions.canRead) return undefined;
    users.push({ kind: 'project', id, organizationId });
  }
  return users;
};

export const listAgentPools = async (
  { store }: WorkspacesContext,
  principal: Principal,
  organizationName: string,
  filter: AgentPoolFilter,
): Promise<readonly AgentPoolAccessResult[]> => {
  const owner = await requireOrganization(store, principal, organizationName);
  const users = await findNamedUsers(store, owner, filter);
  if (users === undefined) return [];
  const search = filter.search ?? '';
  const { id } = owner.organization;
  const pools = await agentPoolRecords.by.organizationId.records(readableOnly(store), id);
  const canManage = mayManage(owner);
  const results = pools
    .filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()))
    .filter((pool) => users.every((user) => isOpenTo(pool, user)))
    .map((pool): AgentPoolAccessResult => ({ ...owner, pool, canManage }))
    .sort((a, b) => (a.pool.name < b.pool.name ? -1 : 1));
  // The name decides between equal times.
  if (filter.sort?.by === 'created-at') {
    results.sort((a, b) => a.pool.createdAtMs - b.pool.createdAtMs);
  }
  return filter.sort?.isDescending === true ? results.toReversed() : results;
};

/** Workspaces whose own settings name the pool. */
export const loadPoolWorkspaceIds = async (
  reads: Reads,
  { id }: AgentPool,
): Promise<readonly string[]> =>
  (await agentPoolUsers.keys(reads, [id])).filter((user) => user.startsWith('ws-'));

/** The pool and the workspaces that name it, limited to those that the caller may see. */
export const loadVisiblePool = async (
  reads: Reads,
  owner: OrganizationAccessResult,
  pool: AgentPool,
): Promise<{ readonly pool: AgentPool; readonly workspaceIds: readonly string[] }> => {
  const workspaceIds = await loadPoolWorkspaceIds(reads, pool);
  if (seesWholeOrganization(owner.caller)) return { pool, workspaceIds };
  const projects = await Promise.all(
    pool.allowedProjectIds.map((id) => findReadableProject(readableOnly(reads), owner, id)),
  );
  return {
    pool: {
      ...pool,
      allowedWorkspaceIds: await findVisibleIds(reads, owner, pool.allowedWorkspaceIds),
      excludedWorkspaceIds: await findVisibleIds(reads, owner, pool.excludedWorkspaceIds),
      allowedProjectIds: projects.flatMap((project) => project?.id ?? []),
    },
    workspaceIds: await findVisibleIds(reads, owner, workspaceIds),
  };
};
