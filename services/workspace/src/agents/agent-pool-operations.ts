import { KeelsonError } from '@keelson/errors';
import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import {
  findReadableProject,
  findStanding,
  loadProjectPermissions,
  loadWorkspaceAccess,
  notFound,
  type OrganizationAccessResult,
  requireOrganization,
} from '../access/access-operations.ts';
import { seesWholeOrganization } from '../access/domain/standing.ts';
import { decideOrganizationPermissions } from '../organizations/domain/organization-permissions.ts';
import { organizationRecords } from '../organizations/organization-records.ts';
import { projectNames, projectRecords } from '../projects/project-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { deleteTokensOf } from '../tokens/token-operations.ts';
import { attributeViolation, type Violation } from '../validation/domain/violation.ts';
import { findVisibleIds } from '../workspaces/workspace-list-operations.ts';
import { findWorkspaceByName, workspaceRecords } from '../workspaces/workspace-records.ts';
import { agentPoolNames, agentPoolRecords, agentPoolUsers } from './agent-pool-records.ts';
import { removeAgentsOf } from './agent-removal-operations.ts';
import { type AgentPool, isAgentPoolName, isOpenTo, type PoolUser } from './domain/agent-pool.ts';

export type GivenAgentPool = Partial<
  Pick<
    AgentPool,
    | 'name'
    | 'organizationScoped'
    | 'allowedWorkspaceIds'
    | 'allowedProjectIds'
    | 'excludedWorkspaceIds'
  >
>;

export interface AgentPoolAccessResult extends OrganizationAccessResult {
  readonly pool: AgentPool;
  /** Change it and make tokens for it. */
  readonly canManage: boolean;
}

const mayManage = ({ standing }: OrganizationAccessResult): boolean =>
  decideOrganizationPermissions(standing).canUpdateAgentPools;

/** Every member sees the pools. @throws KeelsonError `workspace.not_found` */
export const requireAgentPool = async (
  reads: Reads,
  principal: Principal,
  poolId: string,
  needs: 'canRead' | 'canManage' = 'canRead',
): Promise<AgentPoolAccessResult> => {
  const pool = await agentPoolRecords.find(reads, poolId);
  const organization = pool && (await organizationRecords.find(reads, pool.organizationId));
  const standing = organization && (await findStanding(reads, principal, organization));
  if (pool === undefined || organization === undefined || standing === undefined) {
    throw notFound('agent pool');
  }
  const canManage = mayManage({ organization, standing });
  if (needs === 'canManage' && !canManage) throw notFound('agent pool');
  return { organization, standing, pool, canManage };
};

/** What a request names is there. */
const checkNamed = async (
  reads: Reads,
  organizationId: string,
  given: GivenAgentPool,
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
  { kind }: Pick<PoolUser, 'kind'>,
  id: string,
): Promise<PoolUser | undefined> => {
  if (kind !== 'workspace') return { kind, id, organizationId };
  const workspace = await workspaceRecords.find(reads, id);
  return workspace && { kind, id, organizationId, projectId: workspace.projectId };
};

/** Whoever names the pool keeps access to it. */
const checkUsers = async (reads: Reads, pool: AgentPool): Promise<readonly Violation[]> => {
  const violations: Violation[] = [];
  for (const id of await agentPoolUsers.keys(reads, [pool.id])) {
    const use = await agentPoolUsers.find(reads, pool.id, id);
    const user = use && (await loadUser(reads, pool, use, id));
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

const requireName = async (reads: Reads, { name, organizationId }: AgentPool): Promise<void> => {
  if (!isAgentPoolName(name)) refuseInvalid([attributeViolation('name', NAME_RULE)]);
  if ((await agentPoolNames.find(reads, organizationId, name)) !== undefined) {
    refuseInvalid([attributeViolation('name', 'Name has already been taken')]);
  }
};

export const createAgentPool = (
  { store, clock }: ServiceContext,
  principal: Principal,
  organizationName: string,
  given: GivenAgentPool & Pick<AgentPool, 'name'>,
): Promise<AgentPoolAccessResult> =>
  store.transact(async (tx) => {
    const owner = await requireOrganization(tx, principal, organizationName);
    if (!mayManage(owner)) throw notFound('organization');
    const pool: AgentPool = {
      organizationScoped: true,
      allowedWorkspaceIds: [],
      allowedProjectIds: [],
      excludedWorkspaceIds: [],
      ...given,
      id: newResourceId('apool'),
      organizationId: owner.organization.id,
      createdAtMs: clock.nowMs(),
    };
    await requireName(tx, pool);
    refuseInvalid(await checkNamed(tx, pool.organizationId, given));
    agentPoolRecords.write(tx, [pool.id], pool);
    agentPoolNames.write(tx, [pool.organizationId, pool.name], { id: pool.id });
    return { ...owner, pool, canManage: true };
  });

export const updateAgentPool = (
  { store }: ServiceContext,
  principal: Principal,
  poolId: string,
  given: GivenAgentPool,
): Promise<AgentPoolAccessResult> =>
  store.transact(async (tx) => {
    const access = await requireAgentPool(tx, principal, poolId, 'canManage');
    const pool: AgentPool = { ...access.pool, ...given };
    if (pool.name !== access.pool.name) {
      await requireName(tx, pool);
      agentPoolNames.delete(tx, pool.organizationId, access.pool.name);
      agentPoolNames.write(tx, [pool.organizationId, pool.name], { id: pool.id });
    }
    refuseInvalid([
      ...(await checkNamed(tx, pool.organizationId, given)),
      ...(await checkUsers(tx, pool)),
    ]);
    agentPoolRecords.write(tx, [pool.id], pool);
    return { ...access, pool };
  });

/** Removes a pool with its tokens, whoever names it. */
export const removeAgentPool = async (
  tx: Transaction,
  pool: AgentPool,
  nowMs: number,
): Promise<void> => {
  await removeAgentsOf(tx, pool, nowMs);
  for (const id of await agentPoolUsers.keys(tx, [pool.id])) agentPoolUsers.delete(tx, pool.id, id);
  await deleteTokensOf(tx, pool.id);
  agentPoolRecords.delete(tx, pool.id);
  agentPoolNames.delete(tx, pool.organizationId, pool.name);
};

/** Deletes a pool that nothing names. @throws KeelsonError `workspace.conflict` */
export const deleteAgentPool = (
  { store, clock }: ServiceContext,
  principal: Principal,
  poolId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const { pool } = await requireAgentPool(tx, principal, poolId, 'canManage');
    const [user] = await agentPoolUsers.keys(tx, [pool.id], { limit: 1 });
    if (user !== undefined) {
      throw new KeelsonError('workspace.conflict', { text: `the agent pool is in use by ${user}` });
    }
    await removeAgentPool(tx, pool, clock.nowMs());
  });

/** Pools whose name holds `search`, by name. */
export const AGENT_POOL_SORTS = ['name', 'created-at'] as const;

export interface AgentPoolFilter {
  /** Absent: by name. */
  readonly sort?:
    | { readonly by: (typeof AGENT_POOL_SORTS)[number]; readonly isDescending: boolean }
    | undefined;
  /** Part of the name, in any case. */
  readonly search?: string | undefined;
  /** Names of what the pool is open to; a name that the caller cannot see is open to none. */
  readonly workspaceName?: string | undefined;
  readonly projectName?: string | undefined;
}

/** Who is named, as far as the caller sees it; undefined when somebody is not. */
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
    const found = await projectNames.find(reads, organizationId, projectName);
    if (found === undefined) return undefined;
    const { id } = found;
    const permissions = await loadProjectPermissions(reads, owner.standing, owner.organization, id);
    if (!permissions.canRead) return undefined;
    users.push({ kind: 'project', id, organizationId });
  }
  return users;
};

export const listAgentPools = async (
  { store }: ServiceContext,
  principal: Principal,
  organizationName: string,
  filter: AgentPoolFilter,
): Promise<readonly AgentPoolAccessResult[]> => {
  const owner = await requireOrganization(store, principal, organizationName);
  const users = await findNamedUsers(store, owner, filter);
  if (users === undefined) return [];
  const search = filter.search ?? '';
  const names = await agentPoolNames.keys(store, [owner.organization.id]);
  const matching = names.filter((name) => name.toLowerCase().includes(search.toLowerCase()));
  const canManage = mayManage(owner);
  const results: AgentPoolAccessResult[] = [];
  for (const name of matching) {
    const found = await agentPoolNames.find(store, owner.organization.id, name);
    const pool = found && (await agentPoolRecords.find(store, found.id));
    if (pool !== undefined && users.every((user) => isOpenTo(pool, user))) {
      results.push({ ...owner, pool, canManage });
    }
  }
  // They are in the order of their names, which decides between two of one time.
  if (filter.sort?.by === 'created-at') {
    results.sort((a, b) => a.pool.createdAtMs - b.pool.createdAtMs);
  }
  return filter.sort?.isDescending === true ? results.toReversed() : results;
};

/** Workspaces that name the pool of their own. */
export const loadPoolWorkspaceIds = async (
  reads: Reads,
  { id }: AgentPool,
): Promise<readonly string[]> =>
  (await agentPoolUsers.keys(reads, [id])).filter((user) => user.startsWith('ws-'));

/** The pool and the workspaces that name it, with what the caller sees of what they name. */
export const loadVisiblePool = async (
  reads: Reads,
  owner: OrganizationAccessResult,
  pool: AgentPool,
): Promise<{ readonly pool: AgentPool; readonly workspaceIds: readonly string[] }> => {
  const workspaceIds = await loadPoolWorkspaceIds(reads, pool);
  if (seesWholeOrganization(owner.standing)) return { pool, workspaceIds };
  const projects = await Promise.all(
    pool.allowedProjectIds.map((id) => findReadableProject(reads, owner, id)),
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
