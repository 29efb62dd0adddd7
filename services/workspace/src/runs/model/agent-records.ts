import { collection } from '@keelson/storage';
import { agentShape } from './domain/agent.ts';

/** Keyed by `agent-…`. */
export const agentRecords = collection('agents', {
  scope: 'shared',
  version: 1,
  shape: agentShape,
});
