/** Work through OAuth clients that administrators of the site have switched off. */
import { KeelsonError } from '@keelson/errors';
import { RepositoryFailure } from '@keelson/repositories';
import type { Reads } from '@keelson/storage';
import { isOAuthClientOff } from '../../workspaces/model/part-switch-records.ts';
import type { RepositoryWork } from '../../workspaces/model/repository-records.ts';
import { findClientOf } from './agent-pool-of-work.ts';

/**
 * Why work must not be done now; undefined if it may. Commits and their statuses are given up. The registration of a
 * webhook is tried again, because nothing else would make up for it when the client is on.
 */
export const findRefusalOfClient = async (
  reads: Reads,
  work: RepositoryWork,
): Promise<RepositoryFailure | undefined> => {
  const client = await findClientOf(reads, work);
  if (client === undefined || !(await isOAuthClientOff(reads, client.id))) return undefined;
  const { message } = new KeelsonError('workspace.oauth_client_off', {
    name: client.name ?? client.id,
  });
  return new RepositoryFailure(message, { isFinal: work.kind !== 'register' });
};

/** @throws RepositoryFailure */
export const requireClientOn = async (reads: Reads, work: RepositoryWork): Promise<void> => {
  const refusal = await findRefusalOfClient(reads, work);
  if (refusal !== undefined) throw refusal;
};
