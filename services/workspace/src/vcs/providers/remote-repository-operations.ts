import type { Reads } from '@keelson/storage';
import { type OAuthClient, signingOf } from '../../workspaces/model/domain/oauth-client.ts';
import type { RepositoryHook } from '../../workspaces/model/domain/repository-hook.ts';
import { oauthClientRecords, oauthTokenRecords } from '../../workspaces/model/oauth-records.ts';
import { sshKeyRecords } from '../../workspaces/model/ssh-key-records.ts';
import type { Provider, RemoteRepository } from './provider.ts';
import { PROVIDERS } from './providers.ts';

export interface LoadedRepository {
  readonly provider: Provider;
  readonly repository: RemoteRepository;
  /** Private key for submodules, and for the repository where it is fetched over SSH. */
  readonly sshKey: string | undefined;
  readonly client: OAuthClient;
}

/**
 * The provider of a repository with address and credentials; undefined if the connection was
 * deleted.
 */
export const loadRepository = async (
  reads: Reads,
  { tokenId, identifier }: Pick<RepositoryHook, 'tokenId' | 'identifier'>,
): Promise<LoadedRepository | undefined> => {
  const token = await oauthTokenRecords.find(reads, tokenId);
  const client = token && (await oauthClientRecords.find(reads, token.clientId));
  if (token === undefined || client === undefined) return undefined;
  const key = await sshKeyRecords.find(reads, token.sshKeyId ?? '');
  const { serviceProvider, httpUrl, apiUrl, agentPoolId } = client;
  const connection = {
    serviceProvider,
    httpUrl,
    apiUrl,
    agentPoolId,
    token: token.token,
    signing: signingOf(client),
  };
  const provider = PROVIDERS[serviceProvider];
  const sshKey = token.sshKey ?? key?.value;
  return { provider, repository: { connection, identifier }, sshKey, client };
};
