import { collection } from '@keelson/storage';
import { agentShape } from './domain/agent.ts';

/** Keyed by `agent-…`; "pool" has the agents that are registered with a pool, by organization id and pool id. */
export const agentRecords = collection('agents', {
  scope: 'shared',
  version: 1,
  shape: agentShape,
  index: [
    {
      name: 'pool',
      rows: 'registered-agents',
      values: ({ organizationId, poolId }) => (poolId === null ? [] : [[organizationId, poolId]]),
    },
  ],
});
