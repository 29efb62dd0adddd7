/** Determines who may execute the runs of a workspace: the agents of which pools, or the built-in runner. */
import type { Reads } from '@keelson/storage';
import { decideEffectiveExecution, type Execution } from '../../base/execution/domain/execution.ts';
import { organizationRecords } from '../../identity/model/organization-records.ts';
import type { WorkspaceAccessResult } from '../../workspaces/access/access-operations.ts';
import { toPoolUser } from '../../workspaces/lifecycle/workspace-move-operations.ts';
import { agentPoolRecords } from '../../workspaces/model/agent-pool-records.ts';
import { agentRecords } from '../../workspaces/model/agent-records.ts';
import { type AgentPool, isOpenTo } from '../../workspaces/model/domain/agent-pool.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import { projectRecords } from '../../workspaces/model/project-records.ts';
import type { WorkspacesContext } from '../../workspaces/seams/workspaces-context.ts';

type Installation = Pick<WorkspacesContext, 'hasRunner'>;
type Placed = Pick<WorkspaceAccessResult, 'workspace' | 'project' | 'organization'>;

const toExecution = ({ workspace, project, organization }: Placed): Execution =>
  decideEffectiveExecution(
    workspace.ownExecution,
    project.ownExecution,
    organization.defaultExecution,
  );

/**
 * The pool that the workspace names or inherits; in mode `remote`, the pools that the organization may use.
 */
const isExecutor = (pool: AgentPool, placed: Placed): boolean => {
  const { mode, agentPoolId } = toExecution(placed);
  if (!isOpenTo(pool, toPoolUser(placed.workspace))) return false;
  return mode === 'agent' ? agentPoolId === pool.id : mode === 'remote' && pool.organizationScoped;
};

const findPlace = async (reads: Reads, workspace: Workspace): Promise<Placed | undefined> => {
  const [project, organization] = await Promise.all([
    projectRecords.find(reads, workspace.projectId),
    organizationRecords.find(reads, workspace.organizationId),
  ]);
  return project && organization && { workspace, project, organization };
};

/** The pool that the workspace names or inherits; undefined in the other modes. */
export const findNamedPoolId = async (
  reads: Reads,
  workspace: Workspace,
): Promise<string | undefined> => {
  const placed = await findPlace(reads, workspace);
  const execution = placed && toExecution(placed);
  return execution?.mode === 'agent' ? (execution.agentPoolId ?? undefined) : undefined;
};

/** Whether agents of the pool may execute the workspace's runs. */
export const executes = async (
  reads: Reads,
  pool: AgentPool,
  workspace: Workspace,
): Promise<boolean> => {
  const placed = await findPlace(reads, workspace);
  return placed !== undefined && isExecutor(pool, placed);
};

/** An agent that executes the workspace's runs of mode `remote`, of those for which `counts` holds. */
const findAgent = async (
  reads: Reads,
  placed: Placed,
  counts: (agentId: string) => Promise<boolean>,
): Promise<string | undefined> => {
  for (const folder of await agentRecords.by.pool.keys(reads, [placed.organization.id])) {
    const poolId = folder.replace('/', '');
    const pool = await agentPoolRecords.find(reads, poolId);
    if (pool === undefined || !isExecutor(pool, placed)) continue;
    for (const id of await agentRecords.by.pool.keys(reads, [placed.organization.id, poolId])) {
      if (await counts(id)) return id;
    }
  }
  return undefined;
};

/**
 * Whether the built-in runner executes the workspace's runs: those of mode `remote`, unless a
 * suitable agent of the organization is registered, because that agent may reach networks that the
 * built-in runner cannot.
 */
export const isForRunner = async (reads: Reads, workspace: Workspace): Promise<boolean> => {
  const placed = await findPlace(reads, workspace);
  if (placed === undefined || toExecution(placed).mode !== 'remote') return false;
  const live = await findAgent(
    reads,
    placed,
    async (id) => (await agentRecords.find(reads, id))?.ended === null,
  );
  return live === undefined;
};

export const LOCAL_HAS_NO_RUNS = 'a workspace of execution mode local has no runs';

/** False in mode `local`, in which clients execute runs and the service only stores states. */
export const hasRuns = async (reads: Reads, workspace: Workspace): Promise<boolean> => {
  const placed = await findPlace(reads, workspace);
  return placed !== undefined && toExecution(placed).mode !== 'local';
};

/**
 * Why nobody would ever claim a run of the workspace; undefined when somebody would. A pool that the workspace
 * names may have no agents yet, because some are started on demand: its runs wait. In mode `remote` no pool
 * is named, so that without the built-in runner at least one agent must be registered.
 */
export const findMissingExecutor = async (
  { hasRunner }: Installation,
  reads: Reads,
  access: Placed,
): Promise<string | undefined> => {
  const { mode, agentPoolId } = toExecution(access);
  if (mode === 'local') return LOCAL_HAS_NO_RUNS;
  if (mode === 'agent') {
    const pool = await agentPoolRecords.find(reads, agentPoolId ?? '');
    return pool !== undefined && isExecutor(pool, access)
      ? undefined
      : 'the workspace does not have access to use its agent pool';
  }
  if (hasRunner || (await findAgent(reads, access, () => Promise.resolve(true))) !== undefined) {
    return undefined;
  }
  return 'no agent executes runs of execution mode remote, and the built-in runner is off (KEELSON_RUNNER; `keelson status` says why): have it turned on, register an agent with an organization-scoped agent pool that the workspace may use, or give the workspace an agent pool or the execution mode local';
};

/** Like `findMissingExecutor`, but loads the workspace's project and organization itself. */
export const findMissingExecutorOf = async (
  installation: Installation,
  reads: Reads,
  workspace: Workspace,
): Promise<string | undefined> => {
  const placed = await findPlace(reads, workspace);
  return placed === undefined ? undefined : findMissingExecutor(installation, reads, placed);
};
