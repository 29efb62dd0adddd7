/** Ends the phase of an agent that leaves, and removes the agents of a deleted pool. */
import { readableOnly, type Transaction } from '@keelson/storage';
import { agentRecords } from '../../workspaces/model/agent-records.ts';
import type { Agent } from '../../workspaces/model/domain/agent.ts';
import type { AgentPool } from '../../workspaces/model/domain/agent-pool.ts';
import { failRunOf } from '../lifecycle/run-changes.ts';

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
  for (const id of await agentRecords.by.pool.keys(tx, [pool.organizationId, pool.id])) {
    const agent = await agentRecords.find(readableOnly(tx), id);
    if (agent === undefined) continue;
    await abandonPhase(tx, agent, 'The agent pool was deleted.', nowMs);
    await agentRecords.delete(tx, id);
  }
};
