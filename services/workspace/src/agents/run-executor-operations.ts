/** Which pools' agents execute the runs of a workspace. */
import type { Reads } from '@keelson/storage';
import type { WorkspaceAccessResult } from '../access/access-operations.ts';
import { organizationRecords } from '../organizations/organization-records.ts';
import { projectRecords } from '../projects/project-records.ts';
import { decideEffectiveExecution, type Execution } from '../workspaces/domain/execution.ts';
import type { Workspace } from '../workspaces/domain/workspace.ts';
import { toPoolUser } from '../workspaces/workspace-move-operations.ts';
import { agentPoolRecords } from './agent-pool-records.ts';
import { registeredAgents } from './agent-records.ts';
import { type AgentPool, isOpenTo } from './domain/agent-pool.ts';

type Placed = Pick<WorkspaceAccessResult, 'workspace' | 'project' | 'organization'>;

const toExecution = ({ workspace, project, organization }: Placed): Execution =>
  decideEffectiveExecution(
    workspace.ownExecution,
    project.ownExecution,
    organization.defaultExecution,
  );

/** The pool that the workspace names, own or inherited; those of the organization for mode `remote`. */
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

/** The pool that the workspace names, itself or by what it inherits; undefined in the other modes. */
export const findNamedPoolId = async (
  reads: Reads,
  workspace: Workspace,
): Promise<string | undefined> => {
  const placed = await findPlace(reads, workspace);
  const execution = placed && toExecution(placed);
  return execution?.mode === 'agent' ? (execution.agentPoolId ?? undefined) : undefined;
};

/** Whether agents of the pool take the workspace's runs. */
export const executes = async (
  reads: Reads,
  pool: AgentPool,
  workspace: Workspace,
): Promise<boolean> => {
  const placed = await findPlace(reads, workspace);
  return placed !== undefined && isExecutor(pool, placed);
};

export const LOCAL_HAS_NO_RUNS = 'a workspace of execution mode local has no runs';

/** False in mode `local`, where clients run and the service keeps states. */
export const hasRuns = async (reads: Reads, workspace: Workspace): Promise<boolean> => {
  const placed = await findPlace(reads, workspace);
  return placed !== undefined && toExecution(placed).mode !== 'local';
};

/**
 * Why no agent would ever take a run of the workspace; undefined when one would. A pool that the
 * workspace names may be without agents, as one that is started when there is work: its runs wait. In
 * mode `remote` nobody has named a pool, so that there has to be an agent already.
 */
export const findMissingExecutor = async (
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
  for (const folder of await registeredAgents.keys(reads, [access.organization.id])) {
    const pool = await agentPoolRecords.find(reads, folder.replace('/', ''));
    if (pool !== undefined && isExecutor(pool, access)) return undefined;
  }
  return 'no agent executes runs of execution mode remote: register one with an organization-scoped agent pool that the workspace may use, or give the workspace an agent pool or the execution mode local';
};

/** As `findMissingExecutor`, by the workspace alone. */
export const findMissingExecutorOf = async (
  reads: Reads,
  workspace: Workspace,
): Promise<string | undefined> => {
  const placed = await findPlace(reads, workspace);
  return placed === undefined ? undefined : findMissingExecutor(reads, placed);
};
