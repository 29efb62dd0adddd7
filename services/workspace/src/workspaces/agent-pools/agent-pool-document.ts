import {
  API_PREFIX,
  orNull,
  type ResourceOf,
  relatedLink,
  relatedMany,
  relatedOne,
  resourceSchema,
  timestamp,
  toMany,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { AgentPoolAccessResult } from './agent-pool-operations.ts';

export const AGENT_POOL = resourceSchema({
  type: 'agent-pools',
  attributes: {
    name: Type.String(),
    'created-at': timestamp(),
    'organization-scoped': Type.Boolean({
      description: 'Whether every workspace of the organization may use it.',
    }),
    'allowed-egress': orNull(
      Type.Array(Type.String(), {
        description:
          'What alone its runs may reach of what their agents permit, beside the control plane: IP addresses, CIDR ranges, names of hosts, and *. with a domain. Null: everything.',
      }),
    ),
    'agent-count': Type.Integer(),
    'is-disabled': Type.Boolean({
      description:
        'Whether an administrator of the site has switched it off: its agents get no work.',
    }),
  },
  relationships: {
    organization: relatedOne('organizations'),
    workspaces: relatedMany('workspaces'),
    'allowed-workspaces': relatedMany('workspaces'),
    'allowed-projects': relatedMany('projects'),
    'excluded-workspaces': relatedMany('workspaces'),
    agents: relatedMany('agents', 'linked'),
    'authentication-tokens': relatedLink('authentication-tokens'),
  },
  links: ['self'],
});

/** The part of a pool's resource that other records hold. */
export interface AgentPoolState {
  readonly workspaceIds: readonly string[];
  readonly agentIds: readonly string[];
  /** Whether an administrator of the site has switched it off. */
  readonly isOff: boolean;
}

export const toAgentPoolResource = (
  { pool, organization }: Pick<AgentPoolAccessResult, 'pool' | 'organization'>,
  { workspaceIds, agentIds, isOff }: AgentPoolState,
): ResourceOf<typeof AGENT_POOL> => {
  const self = `${API_PREFIX}/agent-pools/${pool.id}`;
  return {
    id: pool.id,
    type: 'agent-pools',
    attributes: {
      name: pool.name,
      'created-at': toTimestamp(pool.createdAtMs),
      'organization-scoped': pool.organizationScoped,
      'allowed-egress': pool.allowedEgress,
      'agent-count': agentIds.length,
      'is-disabled': isOff,
    },
    relationships: {
      organization: toOne('organizations', organization.name),
      workspaces: toMany('workspaces', workspaceIds),
      'allowed-workspaces': toMany('workspaces', pool.allowedWorkspaceIds),
      'allowed-projects': toMany('projects', pool.allowedProjectIds),
      'excluded-workspaces': toMany('workspaces', pool.excludedWorkspaceIds),
      agents: toMany('agents', agentIds, `${self}/agents`),
      'authentication-tokens': { links: { related: `${self}/authentication-tokens` } },
    },
    links: { self },
  };
};
