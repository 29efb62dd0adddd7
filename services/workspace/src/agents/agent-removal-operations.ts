/** What becomes of an agent's phase, and of its pool's agents, when they go. */
import type { Transaction } from '@keelson/storage';
import { failRunOf } from '../runs/run-changes.ts';
import { agentRecords, registeredAgents } from './agent-records.ts';
import type { Agent } from './domain/agent.ts';
import type { AgentPool } from './domain/agent-pool.ts';

export const removeAgent = (tx: Transaction, agent: Agent): void => {
  agentRecords.delete(tx, agent.id);
  registeredAgents.delete(tx, agent.organizationId, agent.poolId, agent.id);
};

/** Ends the phase that the agent has, which it will not go on with. */
export const giveUpPhase = async (
  tx: Transaction,
  { runId }: Agent,
  lastWords: string,
  nowMs: number,
): Promise<void> => {
  if (runId !== null) await failRunOf(tx, runId, lastWords, nowMs);
};

/** With their pool; phases that they have end. */
export const removeAgentsOf = async (
  tx: Transaction,
  pool: AgentPool,
  nowMs: number,
): Promise<void> => {
  for (const id of await registeredAgents.keys(tx, [pool.organizationId, pool.id])) {
    const agent = await agentRecords.find(tx, id);
    if (agent === undefined) continue;
    await giveUpPhase(tx, agent, 'The agent pool was deleted.', nowMs);
    removeAgent(tx, agent);
  }
};
