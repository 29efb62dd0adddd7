/** Agent pools as owners of tokens, with which their agents register. */
import { notFound } from '../../base/not-found.ts';
import { organizationRecords } from '../../identity/model/organization-records.ts';
import type { TokenOwnerRules } from '../../identity/seams/token-owners.ts';
import { toOrganizationPrincipal } from '../../identity/tokens/token-owners.ts';
import { agentPoolRecords } from '../model/agent-pool-records.ts';
import { requireAgentPool } from './agent-pool-operations.ts';

export const AGENT_POOL_TOKEN_OWNER: TokenOwnerRules = {
  findPrincipal: async (reads, token) => {
    const pool = await agentPoolRecords.find(reads, token.ownerId);
    const organization = pool && (await organizationRecords.find(reads, pool.organizationId));
    return (
      pool &&
      toOrganizationPrincipal('agent', { id: pool.id, displayName: pool.name }, organization, token)
    );
  },
  requireManager: async (reads, principal, ownerId) => {
    const { canManage } = await requireAgentPool(reads, principal, ownerId);
    if (!canManage) throw notFound('agent pool');
  },
};
