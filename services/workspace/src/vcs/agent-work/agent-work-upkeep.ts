/** Work for agents that is not done: no agent takes it, or the one that has it is lost. */

import type { RoundOptions } from '@keelson/locks';
import { RepositoryFailure } from '@keelson/repositories';
import { type Transaction, unlessDamaged } from '@keelson/storage';
import { agentPoolRecords } from '../../workspaces/model/agent-pool-records.ts';
import { agentRecords } from '../../workspaces/model/agent-records.ts';
import { SILENT_AFTER_MS } from '../../workspaces/model/domain/agent.ts';
import type { AgentPool } from '../../workspaces/model/domain/agent-pool.ts';
import { dueAtMsOf, workNameOf } from '../../workspaces/model/repository-records.ts';
import { endAttempt } from '../ingress/attempt-operations.ts';
import {
  type AgentWork,
  type AgentWorkKey,
  agentWork,
  listWorkingPools,
} from '../model/agent-work-records.ts';
import { findAgentPoolOf } from '../providers/agent-pool-of-work.ts';
import { findRefusalOfClient } from '../providers/disabled-clients.ts';
import { recordFailure } from '../repository-work/work-outcomes.ts';
import type { VcsContext } from '../seams/vcs-context.ts';
import { failAgentWork, returnWork } from './agent-work-operations.ts';

/** Agents ask for work every few seconds. */
const TAKEN_WITHIN_MS = 60_000;
/** As long as other work is tried again. */
const GIVEN_UP_AFTER_MS = 16 * 60 * 60 * 1000;

/** Shows once that nobody takes the work, and gives it up in the end. */
const recordMissed = async (
  context: VcsContext,
  tx: Transaction,
  key: AgentWorkKey,
  queued: AgentWork,
  waitedMs: number,
): Promise<void> => {
  const [poolId] = key;
  if ((await findAgentPoolOf(tx, queued.work)) !== poolId) {
    await returnWork(tx, key, queued);
    return;
  }
  const isLast = waitedMs > GIVEN_UP_AFTER_MS;
  if (queued.isMissed && !isLast) return;
  const pool = await agentPoolRecords.find(tx, poolId);
  const problem = `no agent of the pool ${pool?.name ?? poolId}, through which the provider is reached, has taken the work`;
  await recordFailure(context, tx, queued.work, problem, isLast);
  if (isLast) {
    endAttempt(tx, queued.organizationId, workNameOf(key));
    await agentWork.delete(tx, ...key);
  } else await agentWork.write(tx, key, { ...queued, isMissed: true });
};

const lookAfter = async (
  context: VcsContext,
  tx: Transaction,
  key: AgentWorkKey,
): Promise<void> => {
  const queued = await agentWork.find(tx, ...key);
  const nowMs = context.clock.nowMs();
  if (queued === undefined) return;
  const refusal = await findRefusalOfClient(tx, queued.work);
  if (refusal?.isFinal === true) {
    await failAgentWork(context, tx, key, queued, refusal);
    return;
  }
  if (queued.claim === null) {
    const waitedMs = nowMs - dueAtMsOf(key);
    if (waitedMs > TAKEN_WITHIN_MS) await recordMissed(context, tx, key, queued, waitedMs);
    return;
  }
  const { agentId, sinceMs, untilMs } = queued.claim;
  const agent = await agentRecords.find(tx, agentId);
  const heardAtMs = Math.max(agent?.lastPingAtMs ?? 0, sinceMs);
  const isSilent = nowMs - heardAtMs >= SILENT_AFTER_MS;
  if (untilMs > nowMs && !isSilent) return;
  const what = isSilent ? 'is silent' : 'did not end it in time';
  const failure = new RepositoryFailure(
    `the agent ${agent?.name ?? agentId}, which had the work, ${what}`,
  );
  await failAgentWork(context, tx, key, queued, failure);
};

/** Looks after the work of all pools. */
export const expireAgentWork = async (
  context: VcsContext,
  options: RoundOptions,
): Promise<void> => {
  const { store } = context;
  for (const poolId of await listWorkingPools(store)) {
    for (const name of await agentWork.keys(store, [poolId]))
      await unlessDamaged(store.transact((tx) => lookAfter(context, tx, [poolId, name]), options));
  }
};

/** Ends the attempts at the work of a pool that is deleted, which owns the work. */
export const endAttemptsOf = async (tx: Transaction, { id }: AgentPool): Promise<void> => {
  for (const name of await agentWork.keys(tx, [id])) {
    const work = await agentWork.find(tx, id, name);
    if (work !== undefined) endAttempt(tx, work.organizationId, workNameOf([id, name]));
  }
};
