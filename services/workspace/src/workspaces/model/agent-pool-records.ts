import type { Reads, Transaction } from '@keelson/storage';
import { keyedRecords } from '../../base/keyed-records.ts';
import type { AgentPool, PoolUser } from './domain/agent-pool.ts';

/** Keyed by `apool-…`; written by `writeAgentPool` and deleted by `deleteAgentPoolRecord`. */
export const agentPoolRecords = keyedRecords<AgentPool>('shared/agent-pools/');

/** Organization id, name -> pool id. */
export const agentPoolNames = keyedRecords<{ readonly id: string }>('shared/agent-pool-names/');

/**
 * Users that name the pool in their own settings, and OAuth clients whose providers its agents reach. Keyed by
 * pool id, user id: a pool in use is not deleted.
 */
export const agentPoolUsers = keyedRecords<{ readonly kind: PoolUser['kind'] | 'oauth-client' }>(
  'shared/agent-pool-users/',
);

/** Agents that are registered with a pool, written by the runs module. Organization id, pool id, agent id. */
export const registeredAgents = keyedRecords<Record<never, never>>('shared/registered-agents/');

/** Pools whose lists name a workspace or project. Keyed by its id, pool id. */
const agentPoolMentions = keyedRecords<Record<never, never>>('shared/agent-pool-mentions/');

const mentionedBy = (pool: AgentPool): ReadonlySet<string> =>
  new Set([...pool.allowedWorkspaceIds, ...pool.allowedProjectIds, ...pool.excludedWorkspaceIds]);

/** @param before the pool as it is stored; undefined for a new one */
export const writeAgentPool = (
  tx: Transaction,
  before: AgentPool | undefined,
  pool: AgentPool,
): void => {
  const mentioned = mentionedBy(pool);
  const known = before === undefined ? new Set<string>() : mentionedBy(before);
  for (const id of known) if (!mentioned.has(id)) agentPoolMentions.delete(tx, id, pool.id);
  for (const id of mentioned) if (!known.has(id)) agentPoolMentions.write(tx, [id, pool.id], {});
  agentPoolRecords.write(tx, [pool.id], pool);
};

export const deleteAgentPoolRecord = (tx: Transaction, pool: AgentPool): void => {
  for (const id of mentionedBy(pool)) agentPoolMentions.delete(tx, id, pool.id);
  agentPoolRecords.delete(tx, pool.id);
};

/** Ids of the pools whose lists name a workspace or project. */
export const listPoolsNaming = (reads: Reads, id: string): Promise<readonly string[]> =>
  agentPoolMentions.keys(reads, [id]);
