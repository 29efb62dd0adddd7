import { collection, type Reads, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';
import { type AgentPool, agentPoolShape } from './domain/agent-pool.ts';

/** Keyed by `apool-…`; written by `writeAgentPool` and deleted by `deleteAgentPoolRecord`. */
export const agentPoolRecords = collection('agent-pools', {
  scope: 'shared',
  version: 1,
  shape: agentPoolShape,
});

/** Organization id, name -> pool id. */
export const agentPoolNames = collection('agent-pool-names', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ id: Type.String() }),
});

/**
 * Users that name the pool in their own settings, and OAuth clients whose providers its agents reach. Keyed by
 * pool id, user id: a pool in use is not deleted.
 */
export const agentPoolUsers = collection('agent-pool-users', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({
    kind: Type.Enum(['organization', 'project', 'workspace', 'oauth-client']),
  }),
});

/** Agents that are registered with a pool, written by the runs module. Organization id, pool id, agent id. */
export const registeredAgents = collection('registered-agents', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({}),
});

/** Pools whose lists name a workspace or project. Keyed by its id, pool id. */
const agentPoolMentions = collection('agent-pool-mentions', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({}),
});

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
