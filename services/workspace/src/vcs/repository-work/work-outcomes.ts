/** Requests that work at providers consists of, and the consequences of failures, for whoever does the work. */

import { RepositoryFailure } from '@keelson/repositories';
import { type Transaction, unlessDamaged } from '@keelson/storage';
import { WorkerDeath } from '@keelson/supervisor';
import { pauseAfter, REPOSITORY_RETRIES } from '../../base/retries.ts';
import {
  findRepositoryHookById,
  type QueuedWork,
  type RepositoryWork,
  writeRepositoryHook,
} from '../../workspaces/model/repository-records.ts';
import { prepareStatusReport } from '../commit-statuses/commit-status-operations.ts';
import { prepareRegistration, prepareRemoval } from '../hooks/hook-operations.ts';
import { giveUpFetch, recordFetchProblem } from '../ingress/ingress-operations.ts';
import type { ProviderErrand } from '../providers/provider-errand.ts';
import type { VcsContext } from '../seams/vcs-context.ts';

/** The request that work consists of; undefined if there is nothing left to do. */
export const prepareErrand = (
  context: VcsContext,
  work: Exclude<RepositoryWork, { kind: 'fetch' }>,
): Promise<ProviderErrand | undefined> => {
  switch (work.kind) {
    case 'register':
      return prepareRegistration(context, work.hookId);
    case 'unregister':
      return Promise.resolve(prepareRemoval(work));
    case 'report':
      return prepareStatusReport(context, work.runId);
  }
};

/** Shows a failure to those who may see the workspaces. @param isLast there are no further attempts */
export const recordFailure = async (
  context: VcsContext,
  tx: Transaction,
  work: RepositoryWork,
  problem: string,
  isLast: boolean,
): Promise<void> => {
  if (work.kind === 'register') {
    const hook = await findRepositoryHookById(tx, work.hookId);
    if (hook !== undefined)
      await writeRepositoryHook(tx, {
        ...hook,
        hookProblem: `the webhook cannot be registered: ${problem}`,
      });
  }
  if (work.kind !== 'fetch') return;
  await recordFetchProblem(tx, work, problem);
  if (isLast) await giveUpFetch(context, tx, work, problem);
};

/**
 * Records a failed attempt on the workspaces; those that cannot be read do not show it.
 * @returns when the work is due again, with the number of its attempts; undefined if it is given up
 */
export const afterFailure = async (
  context: VcsContext,
  tx: Transaction,
  { work, attempts: before }: Pick<QueuedWork, 'work' | 'attempts'>,
  { message, isFinal }: RepositoryFailure,
): Promise<{ readonly attempts: number; readonly dueAtMs: number } | undefined> => {
  const attempts = before + 1;
  const pauseMs = isFinal ? undefined : pauseAfter(REPOSITORY_RETRIES, attempts);
  await unlessDamaged(recordFailure(context, tx, work, message, pauseMs === undefined));
  return pauseMs === undefined ? undefined : { attempts, dueAtMs: context.clock.nowMs() + pauseMs };
};

/** Unforeseen errors are logged, and the work is tried again like after other failures. */
export const toFailure = (
  { logger, workerCounters }: VcsContext,
  error: unknown,
): RepositoryFailure => {
  if (error instanceof RepositoryFailure) return error;
  if (error instanceof WorkerDeath) {
    workerCounters.deaths.inc(error.kind);
    logger.warn({ err: error, output: error.errorOutput }, 'a worker for a repository died');
    return new RepositoryFailure(`the worker that fetched the repository died: ${error.message}`);
  }
  logger.error({ err: error }, 'work at a repository failed');
  return new RepositoryFailure('an error of this service, which is in its log');
};
