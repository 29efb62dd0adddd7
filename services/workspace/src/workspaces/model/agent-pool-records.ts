import { collection } from '@keelson/storage';
import { Type } from 'typebox';
import { agentPoolShape } from './domain/agent-pool.ts';

/** Keyed by `apool-…`; "named" has the workspaces and projects that the lists of a pool name. */
export const agentPoolRecords = collection('agent-pools', {
  scope: 'shared',
  version: 1,
  shape: agentPoolShape,
  kind: 'agent-pool',
  owner: { kind: 'organization', by: 'organizationId' },
  index: [
    'organizationId',
    { name: 'name', values: ({ organizationId, name }) => [[organizationId, name]] },
    {
      name: 'named',
      values: ({ allowedWorkspaceIds, allowedProjectIds, excludedWorkspaceIds }) => [
        ...allowedWorkspaceIds,
        ...allowedProjectIds,
        ...excludedWorkspaceIds,
      ],
    },
  ],
});

/**
 * Users that name the pool in their own settings, and OAuth clients whose providers its agents reach. Keyed by
 * pool id, user id: a pool in use is not deleted.
 */
export const agentPoolUsers = collection('agent-pool-users', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({
    kind: Type.Enum(['organization', 'project', 'workspace', 'oauth-client']),
  }),
  owner: { kind: 'agent-pool', by: '*' },
});
