/**
 * Does the queued work at providers. Organizations take turns, and each has one piece of work under way, so that
 * one whose provider is slow, or who has much work, delays its own only.
 */

import { createTurnRounds, type NextWork, type RoundOptions } from '@keelson/locks';
import { WorkerDeath } from '@keelson/supervisor';
import { listSwitchedOrganizations } from '../../identity/model/organization-switch-records.ts';
import { agentPoolRecords } from '../../workspaces/model/agent-pool-records.ts';
import {
  dueAtMsOf,
  findDueWork,
  listWorkingOrganizations,
  type QueuedWork,
  queueRepositoryWork,
  repositoryWork,
  toWorkKey,
  type WorkKey,
  workNameOf,
} from '../../workspaces/model/repository-records.ts';
import { beginAttempt, endAttempt } from '../ingress/attempt-operations.ts';
import { fetchRepository } from '../ingress/fetch-operations.ts';
import { agentWork, queueAgentWork } from '../model/agent-work-records.ts';
import { findAgentPoolOf } from '../providers/agent-pool-of-work.ts';
import { requireClientOn } from '../providers/disabled-clients.ts';
import { sendToProvider } from '../providers/provider-requests.ts';
import type { VcsContext } from '../seams/vcs-context.ts';
import { afterFailure, prepareErrand, toFailure } from './work-outcomes.ts';

/** Tasks in progress in one replica. */
const AT_ONCE = 4;

/** Gives work to the agents that alone reach the provider. @returns whether it is theirs */
const giveToAgents = (
  { store }: VcsContext,
  key: WorkKey,
  options: RoundOptions,
): Promise<boolean> =>
  store.transact(async (tx) => {
    const queued = await repositoryWork.find(tx, ...key);
    const poolId = queued && (await findAgentPoolOf(tx, queued.work));
    if (queued === undefined || poolId == null) return false;
    repositoryWork.delete(tx, ...key);
    // With the pool, the webhook that is to be removed cannot be reached any more.
    if ((await agentPoolRecords.find(tx, poolId)) === undefined) return true;
    const [organizationId] = key;
    const name = workNameOf(key);
    let dueAtMs = dueAtMsOf(key);
    // An agent may have earlier work of this name.
    while ((await agentWork.find(tx, poolId, toWorkKey(dueAtMs, name))) !== undefined) dueAtMs += 1;
    await queueAgentWork(tx, poolId, { ...queued, organizationId }, { dueAtMs, name });
    return true;
  }, options);

const perform = async (
  context: VcsContext,
  key: WorkKey,
  { work }: QueuedWork,
  options: RoundOptions,
): Promise<void> => {
  await requireClientOn(context.store, work);
  if (await giveToAgents(context, key, options)) return;
  if (work.kind === 'fetch') {
    await beginAttempt(context, key, work, options);
    await fetchRepository(context, key, work, options);
    return;
  }
  const { store, outbound } = context;
  const errand = await prepareErrand(context, work);
  const answer = errand && (await sendToProvider(outbound, errand.request, errand.alsoFine));
  await store.transact(async (tx) => {
    await errand?.complete(tx, answer);
    repositoryWork.delete(tx, ...key);
  }, options);
};

const postpone = (
  context: VcsContext,
  key: WorkKey,
  error: unknown,
  options: RoundOptions,
): Promise<void> => {
  const failure = toFailure(context, error);
  return context.store.transact(async (tx) => {
    // A death stays counted; everything else is the reported end of an attempt.
    if (!(error instanceof WorkerDeath)) endAttempt(tx, key[0], workNameOf(key));
    const queued = await repositoryWork.find(tx, ...key);
    if (queued === undefined) return;
    repositoryWork.delete(tx, ...key);
    const again = await afterFailure(context, tx, queued, failure);
    if (again === undefined) return;
    const [organizationId] = key;
    queueRepositoryWork(tx, organizationId, queued.work, { ...again, name: workNameOf(key) });
  }, options);
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
    await postpone(context, key, error, options);
  }
};

/** @returns a round that does due work, of which each organization has one piece under way */
export const createRepositoryWorker = (
  context: VcsContext,
): ((options: RoundOptions) => Promise<boolean>) => {
  const { store, clock } = context;
  const nextOf =
    (organizationId: string, options: RoundOptions): NextWork =>
    async () => {
      const due = await findDueWork(store, organizationId, clock.nowMs());
      return due && (() => work(context, due.key, due.queued, options));
    };
  return createTurnRounds({
    clock,
    atOnce: AT_ONCE,
    atOnceOfOwner: 1,
    find: async (options) => {
      const switched = await listSwitchedOrganizations(store);
      const ids = await listWorkingOrganizations(store);
      return new Map(
        ids.filter((id) => switched.get(id) !== 'off').map((id) => [id, nextOf(id, options)]),
      );
    },
  });
};
