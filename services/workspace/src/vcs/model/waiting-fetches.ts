/** Fetches that wait for their turn, or for the next attempt after a failure. */
import { readableOnly, type Transaction } from '@keelson/storage';
import { unendedAttempts } from '../../workspaces/model/repository-attempt-records.ts';
import {
  dueAtMsOf,
  type RepositoryWork,
  repositoryWork,
  workNameOf,
} from '../../workspaces/model/repository-records.ts';
import { agentWork } from './agent-work-records.ts';

export type FetchWork = Extract<RepositoryWork, { kind: 'fetch' }>;

/** The queues in which work at a provider waits: that of the organization, and that of the agents of a pool. */
export interface WorkQueues {
  readonly organizationId: string;
  readonly poolId: string | null;
}

/**
 * Takes the fetch of a name out of its queue.
 * @returns undefined if no fetch of this name waits; one that an agent has claimed is under way
 */
export const takeWaitingFetch = async (
  tx: Transaction,
  { organizationId, poolId }: WorkQueues,
  name: string,
): Promise<{ readonly work: FetchWork; readonly dueAtMs: number } | undefined> => {
  const isNamed = (key: string): boolean => workNameOf(['', key]) === name;
  for (const key of (await repositoryWork.keys(tx, [organizationId])).filter(isNamed)) {
    const queued = await repositoryWork.find(readableOnly(tx), organizationId, key);
    if (queued?.work.kind !== 'fetch') continue;
    repositoryWork.delete(tx, organizationId, key);
    return { work: queued.work, dueAtMs: dueAtMsOf(['', key]) };
  }
  for (const key of poolId === null ? [] : (await agentWork.keys(tx, [poolId])).filter(isNamed)) {
    const queued = await agentWork.find(readableOnly(tx), poolId ?? '', key);
    if (queued?.work.kind !== 'fetch' || queued.claim !== null) continue;
    await agentWork.delete(tx, poolId ?? '', key);
    return { work: queued.work, dueAtMs: dueAtMsOf(['', key]) };
  }
  return undefined;
};

/** Takes back the fetch of a workspace's connection, which waits until its repository and branch can be read. */
export const withdrawConnection = async (
  tx: Transaction,
  queues: WorkQueues,
  workspaceId: string,
): Promise<void> => {
  await takeWaitingFetch(tx, queues, workspaceId);
  unendedAttempts.delete(tx, queues.organizationId, workspaceId);
};
