/**
 * Does the queued work at providers. Organizations take turns, and each has one piece of work under way, so that
 * one whose provider is slow, or who has much work, delays its own only.
 */
import { pause } from '@keelson/clock';
import type { RoundOptions } from '@keelson/locks';
import type { Transaction } from '@keelson/storage';
import { pauseAfter, REPOSITORY_RETRIES } from '../../base/retries.ts';
import {
  findDueWork,
  findRepositoryHookById,
  listWorkingOrganizations,
  type QueuedWork,
  queueRepositoryWork,
  repositoryWork,
  type WorkKey,
  workNameOf,
  writeRepositoryHook,
} from '../../workspaces/model/repository-records.ts';
import { reportCommitStatus } from '../commit-statuses/commit-status-operations.ts';
import { registerHook, unregisterHook } from '../hooks/hook-operations.ts';
import { fetchRepository, giveUpFetch, noteFetchProblem } from '../ingress/ingress-operations.ts';
import { RepositoryFailure } from '../model/repository-failure.ts';
import type { VcsContext } from '../seams/vcs-context.ts';

/** Tasks in progress in one replica. */
const AT_ONCE = 4;
/** Other work may become due while this is in progress. */
const LOOK_AGAIN_MS = 1000;

const perform = (
  context: VcsContext,
  key: WorkKey,
  { work }: QueuedWork,
  options: RoundOptions,
): Promise<void> => {
  switch (work.kind) {
    case 'register':
      return registerHook(context, key, work.hookId, options);
    case 'unregister':
      return unregisterHook(context, key, work, options);
    case 'fetch':
      return fetchRepository(context, key, work, options);
    case 'report':
      return reportCommitStatus(context, key, work.runId, options);
  }
};

/** Shows a failure to those who may see the workspaces. */
const noteFailure = async (
  context: VcsContext,
  tx: Transaction,
  { work }: QueuedWork,
  problem: string,
  isLast: boolean,
): Promise<void> => {
  if (work.kind === 'register') {
    const hook = await findRepositoryHookById(tx, work.hookId);
    if (hook !== undefined)
      writeRepositoryHook(tx, {
        ...hook,
        hookProblem: `the webhook cannot be registered: ${problem}`,
      });
  }
  if (work.kind !== 'fetch') return;
  await noteFetchProblem(tx, work, problem);
  if (isLast) await giveUpFetch(context, tx, work, problem);
};

const postpone = (
  context: VcsContext,
  key: WorkKey,
  failure: RepositoryFailure,
  options: RoundOptions,
): Promise<void> =>
  context.store.transact(async (tx) => {
    const queued = await repositoryWork.find(tx, ...key);
    if (queued === undefined) return;
    const attempts = queued.attempts + 1;
    const pauseMs = failure.isFinal ? undefined : pauseAfter(REPOSITORY_RETRIES, attempts);
    repositoryWork.delete(tx, ...key);
    if (pauseMs !== undefined) {
      const dueAtMs = context.clock.nowMs() + pauseMs;
      const [organizationId] = key;
      const name = workNameOf(key);
      queueRepositoryWork(tx, organizationId, queued.work, { dueAtMs, name, attempts });
    }
    await noteFailure(context, tx, queued, failure.message, pauseMs === undefined);
  }, options);

/** Unforeseen errors are logged, and the work is tried again like after other failures. */
const toFailure = ({ logger }: VcsContext, error: unknown): RepositoryFailure => {
  if (error instanceof RepositoryFailure) return error;
  logger.error({ err: error }, 'work at a repository failed');
  return new RepositoryFailure('an error of this service, which is in its log');
};

const work = async (
  context: VcsContext,
  key: WorkKey,
  queued: QueuedWork,
  options: RoundOptions,
): Promise<void> => {
  try {
    await perform(context, key, queued, options);
  } catch (error) {
    await postpone(context, key, toFailure(context, error), options).catch((later: unknown) =>
      context.logger.error({ err: later }, 'work at a repository could not be postponed'),
    );
  }
};

/** Organizations that had no turn come first; when all have had one, each has another. */
const inTurn = (organizationIds: readonly string[], turns: Set<string>): readonly string[] => {
  if (organizationIds.every((id) => turns.has(id))) turns.clear();
  return organizationIds.toSorted((a, b) => Number(turns.has(a)) - Number(turns.has(b)));
};

/**
 * @returns a round that starts due work and waits until the first piece ends; false if there is
 * none
 */
export const createRepositoryWorker = (
  context: VcsContext,
): ((options: RoundOptions) => Promise<boolean>) => {
  const turns = new Set<string>();
  /** By organization. */
  const underWay = new Map<string, Promise<void>>();
  const start = (organizationId: string, done: Promise<void>): void => {
    underWay.set(
      organizationId,
      done.finally(() => underWay.delete(organizationId)),
    );
  };
  const startDue = async (options: RoundOptions): Promise<void> => {
    const { store, clock } = context;
    for (const organizationId of inTurn(await listWorkingOrganizations(store), turns)) {
      if (underWay.size >= AT_ONCE) return;
      if (underWay.has(organizationId)) continue;
      const due = await findDueWork(store, organizationId, clock.nowMs());
      if (due === undefined) continue;
      turns.add(organizationId);
      start(organizationId, work(context, due.key, due.queued, options));
    }
  };
  return async (options) => {
    await startDue(options);
    if (underWay.size === 0) return false;
    const waiting = new AbortController();
    await Promise.race([...underWay.values(), pause(context.clock, LOOK_AGAIN_MS, waiting.signal)]);
    waiting.abort();
    return true;
  };
};
