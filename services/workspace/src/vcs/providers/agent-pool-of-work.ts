/** Who does the work at a provider: the control plane, or the agents of a pool that alone reach it. */
import type { Reads } from '@keelson/storage';
import { runRecords } from '../../runs/model/run-records.ts';
import type { OAuthClient, OAuthToken } from '../../workspaces/model/domain/oauth-client.ts';
import { oauthClientRecords, oauthTokenRecords } from '../../workspaces/model/oauth-records.ts';
import {
  findRepositoryHookById,
  type RepositoryWork,
} from '../../workspaces/model/repository-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';

const findTokenId = async (
  reads: Reads,
  work: Exclude<RepositoryWork, { kind: 'unregister' }>,
): Promise<OAuthToken['id'] | undefined> => {
  if (work.kind !== 'report') return (await findRepositoryHookById(reads, work.hookId))?.tokenId;
  const run = await runRecords.find(reads, work.runId);
  const workspace = run && (await workspaceRecords.find(reads, run.workspaceId));
  return workspace?.settings.vcsRepo?.oauthTokenId ?? undefined;
};

/** The client through which the work reaches its provider; undefined if the connection is gone. */
export const findClientOf = async (
  reads: Reads,
  work: RepositoryWork,
): Promise<OAuthClient | undefined> => {
  if (work.kind === 'unregister') return undefined;
  const token = await oauthTokenRecords.find(reads, (await findTokenId(reads, work)) ?? '');
  return token && (await oauthClientRecords.find(reads, token.clientId));
};

/** The pool whose agents reach the provider; null if the control plane does, or the connection is gone. */
export const findAgentPoolOf = async (
  reads: Reads,
  work: RepositoryWork,
): Promise<string | null> => {
  if (work.kind === 'unregister') return work.connection.agentPoolId;
  return (await findClientOf(reads, work))?.agentPoolId ?? null;
};
