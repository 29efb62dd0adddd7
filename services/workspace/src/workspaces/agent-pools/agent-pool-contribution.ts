/**
 * The agent pool that executes a workspace's runs, its own or inherited, as a resource included with the
 * workspace.
 */
import type { Resource } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import { decideEffectiveExecution } from '../../base/execution/domain/execution.ts';
import type { WorkspaceAccessResult } from '../access/access-operations.ts';
import { agentPoolRecords } from '../model/agent-pool-records.ts';
import { agentRecords } from '../model/agent-records.ts';
import { isAgentPoolOff } from '../model/part-switch-records.ts';
import type { WorkspaceContribution } from '../seams/workspace-contributions.ts';
import { toAgentPoolResource } from './agent-pool-document.ts';
import { loadVisiblePool } from './agent-pool-operations.ts';

const loadAgentPool = async (
  reads: Reads,
  access: WorkspaceAccessResult,
): Promise<readonly Resource[]> => {
  const { workspace, project, organization } = access;
  const { agentPoolId } = decideEffectiveExecution(
    workspace.ownExecution,
    project.ownExecution,
    organization.defaultExecution,
  );
  const stored = await agentPoolRecords.find(reads, agentPoolId ?? '');
  if (stored === undefined) return [];
  const { pool, workspaceIds } = await loadVisiblePool(reads, access, stored);
  const agentIds = await agentRecords.by.pool.keys(reads, [pool.organizationId, pool.id]);
  const isOff = await isAgentPoolOff(reads, pool.id);
  return [toAgentPoolResource({ pool, organization }, { workspaceIds, agentIds, isOff })];
};

export const AGENT_POOL_CONTRIBUTION: WorkspaceContribution = {
  includes: {
    agent_pool: {
      types: ['agent-pools'],
      prepare:
        ({ context }) =>
        (access) =>
          loadAgentPool(context.store, access),
    },
  },
};
