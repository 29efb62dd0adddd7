import { keyedRecords } from '../records/keyed-records.ts';
import type { Agent } from './domain/agent.ts';

/** Keyed by `agent-…`. */
export const agentRecords = keyedRecords<Agent>('shared/agents/');

/** Organization id, pool id, agent id: all that are registered. */
export const registeredAgents = keyedRecords<Record<never, never>>('shared/registered-agents/');
