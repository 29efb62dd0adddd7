/** Agent pools and OAuth clients that administrators of the site have switched off. */
import { KeelsonError } from '@keelson/errors';
import { collection, type Reads } from '@keelson/storage';
import { Type } from 'typebox';
import type { OAuthClient } from './domain/oauth-client.ts';

const shape = Type.Object({
  /** Time since which it is off. */
  sinceMs: Type.Number(),
  /** The administrator who has switched it off. */
  userId: Type.String(),
});

/** `apool-…` -> its switch; absent for a pool that is on. */
export const agentPoolSwitches = collection('agent-pool-switches', {
  scope: 'shared',
  version: 1,
  shape,
  owner: { kind: 'agent-pool', by: '*' },
});

/** `oc-…` -> its switch; absent for a client that is on. */
export const oauthClientSwitches = collection('oauth-client-switches', {
  scope: 'shared',
  version: 1,
  shape,
  owner: { kind: 'oauth-client', by: '*' },
});

/** Agents of a pool that is off get no work. */
export const isAgentPoolOff = async (reads: Reads, poolId: string): Promise<boolean> =>
  (await agentPoolSwitches.find(reads, poolId)) !== undefined;

/** Nothing is sent to the provider of a client that is off, and nothing is taken from it. */
export const isOAuthClientOff = async (reads: Reads, clientId: string): Promise<boolean> =>
  (await oauthClientSwitches.find(reads, clientId)) !== undefined;

/** @throws KeelsonError `workspace.oauth_client_off` */
export const requireOAuthClientOn = async (
  reads: Reads,
  { id, name }: Pick<OAuthClient, 'id' | 'name'>,
): Promise<void> => {
  if (await isOAuthClientOff(reads, id))
    throw new KeelsonError('workspace.oauth_client_off', { name: name ?? id });
};
