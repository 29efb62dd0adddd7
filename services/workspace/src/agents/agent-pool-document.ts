import { API_PREFIX, type Resource, toMany, toOne, toTimestamp } from '@keelson/jsonapi';
import type { AgentPoolAccessResult } from './agent-pool-operations.ts';

export const toAgentPoolResource = (
  { pool, organization }: Pick<AgentPoolAccessResult, 'pool' | 'organization'>,
  workspaceIds: readonly string[],
): Resource => {
  const self = `${API_PREFIX}/agent-pools/${pool.id}`;
  return {
    id: pool.id,
    type: 'agent-pools',
    attributes: {
      name: pool.name,
      'created-at': toTimestamp(pool.createdAtMs),
      'organization-scoped': pool.organizationScoped,
    },
    relationships: {
      organization: toOne('organizations', organization.name),
      workspaces: toMany('workspaces', workspaceIds),
      'allowed-workspaces': toMany('workspaces', pool.allowedWorkspaceIds),
      'allowed-projects': toMany('projects', pool.allowedProjectIds),
      'authentication-tokens': { links: { related: `${self}/authentication-tokens` } },
    },
    links: { self },
  };
};
