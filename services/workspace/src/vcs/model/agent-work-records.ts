/** Work at repositories that only the agents of a pool reach, until one of them has done it. */
import type { FoundCommit } from '@keelson/repositories';
import type { ReadonlyDeep, Reads, Transaction } from '@keelson/storage';
import { keyedRecords } from '../../base/keyed-records.ts';
import { type QueuedWork, toWorkKey } from '../../workspaces/model/repository-records.ts';
import type { CommitArchives } from './commit-archive.ts';

/** The agent that has a piece of work. */
export interface WorkClaim {
  /** `arw-…`; the agent names the work by it. */
  readonly id: string;
  readonly agentId: string;
  readonly sinceMs: number;
  /** Time at which the work is given to another agent. */
  readonly untilMs: number;
  /** The commit that the agent has found; null: none yet. */
  readonly found: FoundCommit | null;
  readonly archives: CommitArchives;
}

export interface AgentWork extends QueuedWork {
  readonly organizationId: string;
  readonly claim: WorkClaim | null;
  /** Whether the workspaces show that no agent has taken it. */
  readonly isMissed: boolean;
}

/** `apool-…`; the time from which it is due, and a name, as in the queue of the organization. */
export const agentWork = keyedRecords<AgentWork>('shared/agent-repository-work/');

/** Where work is in `agentWork`. */
export type AgentWorkKey = readonly [poolId: string, key: string];

/** By `arw-…`. */
const workClaims = keyedRecords<{ readonly poolId: string; readonly key: string }>(
  'shared/repository-work-claims/',
);

/** Pools with work. */
export const listWorkingPools = async (reads: Reads): Promise<readonly string[]> =>
  (await agentWork.keys(reads, [])).map((name) => name.replace(/\/$/, ''));

/** Gives work to a pool. */
export const queueAgentWork = (
  tx: Transaction,
  poolId: string,
  work: Pick<AgentWork, 'organizationId' | 'work' | 'attempts'>,
  { dueAtMs, name }: { readonly dueAtMs: number; readonly name: string },
): void =>
  agentWork.write(tx, [poolId, toWorkKey(dueAtMs, name)], {
    organizationId: work.organizationId,
    work: work.work,
    attempts: work.attempts,
    claim: null,
    isMissed: false,
  });

/** @param work as it is stored */
export const writeClaim = (
  tx: Transaction,
  [poolId, key]: AgentWorkKey,
  work: AgentWork,
  claim: WorkClaim | null,
): void => {
  if (work.claim !== null && work.claim.id !== claim?.id) workClaims.delete(tx, work.claim.id);
  if (claim !== null) workClaims.write(tx, [claim.id], { poolId, key });
  agentWork.write(tx, [poolId, key], { ...work, claim });
};

/** @param work as it is stored */
export const deleteAgentWork = (tx: Transaction, key: AgentWorkKey, work: AgentWork): void => {
  if (work.claim !== null) workClaims.delete(tx, work.claim.id);
  agentWork.delete(tx, ...key);
};

export interface ClaimedWork {
  readonly key: AgentWorkKey;
  readonly work: ReadonlyDeep<AgentWork> & { readonly claim: ReadonlyDeep<WorkClaim> };
}

/** The work with a claim, unless the claim has ended. */
export const findClaimedWork = async (
  reads: Reads,
  claimId: string,
): Promise<ClaimedWork | undefined> => {
  const place = await workClaims.find(reads, claimId);
  const work = place && (await agentWork.find(reads, place.poolId, place.key));
  if (place === undefined || work === undefined || work.claim?.id !== claimId) return undefined;
  return { key: [place.poolId, place.key], work: { ...work, claim: work.claim } };
};
