import { API_PREFIX, type Resource, toOne, toTimestamp } from '@keelson/jsonapi';
import { type Agent, PING_SECONDS, toAgentStatus } from '../model/domain/agent.ts';

export const toAgentResource = (agent: Agent): Resource => ({
  id: agent.id,
  type: 'agents',
  attributes: {
    name: agent.name,
    status: toAgentStatus(agent),
    'ip-address': agent.ipAddress,
    version: agent.version,
    'last-ping-at': toTimestamp(agent.lastPingAtMs),
    'ping-interval-seconds': PING_SECONDS,
    'created-at': toTimestamp(agent.createdAtMs),
  },
  relationships: {
    'agent-pool': toOne('agent-pools', agent.poolId),
    run: toOne('runs', agent.runId),
  },
  links: { self: `${API_PREFIX}/agents/${agent.id}` },
});
