import { keyedRecords } from '../../base/keyed-records.ts';
import type { Agent } from './domain/agent.ts';

/** Keyed by `agent-…`. */
export const agentRecords = keyedRecords<Agent>('shared/agents/');
