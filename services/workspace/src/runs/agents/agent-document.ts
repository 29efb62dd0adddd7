import {
  API_PREFIX,
  choice,
  orNull,
  type ResourceOf,
  relatedOne,
  resourceSchema,
  timestamp,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import {
  AGENT_STATUSES,
  PING_SECONDS,
  type ShownAgent,
  toAgentStatus,
} from '../../workspaces/model/domain/agent.ts';

export const AGENT = resourceSchema({
  type: 'agents',
  attributes: {
    name: Type.String(),
    status: choice(AGENT_STATUSES),
    'ip-address': orNull(
      Type.String({ description: 'Null for callers who may not manage the pool.' }),
    ),
    version: Type.String({ description: 'Version of the agent program.' }),
    'last-ping-at': timestamp(),
    'ping-interval-seconds': Type.Integer({
      description: 'Interval at which the agent must report.',
    }),
    'created-at': timestamp(),
  },
  relationships: { 'agent-pool': relatedOne('agent-pools'), run: relatedOne('runs') },
  links: ['self'],
});

export const toAgentResource = (agent: ShownAgent): ResourceOf<typeof AGENT> => ({
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
