import { API_PREFIX, type Resource, toMany, toOne, toTimestamp } from '@keelson/jsonapi';
import type { AgentPoolAccessResult } from './agent-pool-operations.ts';

export const toAgentPoolResource = (
  { pool, organization }: Pick<AgentPoolAccessResult, 'pool' | 'organization'>,
  workspaceIds: readonly string[],
  agentIds: readonly string[],
): Resource => {
  const self = `${API_PREFIX}/agent-pools/${pool.id}`;
  return {
    id: pool.id,
    type: 'agent-pools',
    attributes: {
      name: pool.name,
      'created-at': toTimestamp(pool.createdAtMs),
      'organization-scoped': pool.organizationScoped,
      'agent-count': agentIds.length,
    },
    relationships: {
      organization: toOne('organizations', organization.name),
      workspaces: toMany('workspaces', workspaceIds),
      'allowed-workspaces': toMany('workspaces', pool.allowedWorkspaceIds),
      'allowed-projects': toMany('projects', pool.allowedProjectIds),
      'excluded-workspaces': toMany('workspaces', pool.excludedWorkspaceIds),
      agents: toMany('agents', agentIds, `${self}/agents`),
      'authentication-tokens': { links: { related: `${self}/authentication-tokens` } },
    },
    links: { self },
  };
};
