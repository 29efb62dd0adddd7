/** Ends the phase of an agent that leaves, and removes the agents of a deleted pool. */
import { readableOnly, type Transaction } from '@keelson/storage';
import { registeredAgents } from '../../workspaces/model/agent-pool-records.ts';
import type { AgentPool } from '../../workspaces/model/domain/agent-pool.ts';
import { agentRecords } from '../model/agent-records.ts';
import type { Agent } from '../model/domain/agent.ts';
import { failRunOf } from '../runs/run-changes.ts';

export const removeAgent = (
  tx: Transaction,
  agent: Pick<Agent, 'id' | 'poolId' | 'organizationId'>,
): void => {
  agentRecords.delete(tx, agent.id);
  if (agent.poolId !== null) {
    registeredAgents.delete(tx, agent.organizationId, agent.poolId, agent.id);
  }
};

/** Ends the agent's phase, because it will not be continued. */
export const abandonPhase = async (
  tx: Transaction,
  { runId }: Agent,
  lastWords: string,
  nowMs: number,
): Promise<void> => {
  if (runId !== null) await failRunOf(tx, runId, lastWords, nowMs);
};

/** Removes the agents of a deleted pool and ends their phases. */
export const removeAgentsOf = async (
  tx: Transaction,
  pool: AgentPool,
  nowMs: number,
): Promise<void> => {
  for (const id of await registeredAgents.keys(tx, [pool.organizationId, pool.id])) {
    const agent = await agentRecords.find(readableOnly(tx), id);
    if (agent === undefined) continue;
    await abandonPhase(tx, agent, 'The agent pool was deleted.', nowMs);
    removeAgent(tx, agent);
  }
};
