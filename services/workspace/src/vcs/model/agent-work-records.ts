/** Work at repositories that only the agents of a pool reach, until one of them has done it. */

import { collection, type Reads, type Transaction } from '@keelson/storage';
import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { queuedWorkShape, toWorkKey } from '../../workspaces/model/repository-records.ts';
import { commitArchivesShape } from './commit-archive.ts';

/** The agent that has a piece of work. */
export const workClaimShape = Type.Object({
  /** `arw-…`; the agent names the work by it. */
  id: Type.String(),
  agentId: Type.String(),
  sinceMs: Type.Number(),
  /** Time at which the work is given to another agent. */
  untilMs: Type.Number(),
  /** The commit that the agent has found; null if there is none yet. */
  found: nullable(
    Type.Object({
      /** Empty in a repository without commits. */
      defaultBranch: Type.String(),
      /** Null if `onlyIfDefaultBranch` is not the default branch. */
      commit: nullable(
        Type.Object({ sha: Type.String(), author: Type.String(), message: Type.String() }),
      ),
      /** Paths that differ from the commit to compare with; null if unknown. */
      changedFiles: nullable(Type.Array(Type.String())),
    }),
  ),
  archives: commitArchivesShape,
});
export type WorkClaim = Shaped<typeof workClaimShape>;

export const agentWorkShape = Type.Object({
  ...queuedWorkShape.properties,
  organizationId: Type.String(),
  claim: nullable(workClaimShape),
  /** Whether the workspaces show that no agent has taken it. */
  isMissed: Type.Boolean(),
});
export type AgentWork = Shaped<typeof agentWorkShape>;

/** `apool-…`; the time from which it is due, and a name, as in the queue of the organization. */
export const agentWork = collection('agent-repository-work', {
  scope: 'shared',
  version: 1,
  shape: agentWorkShape,
});

/** Where work is in `agentWork`. */
export type AgentWorkKey = readonly [poolId: string, key: string];

/** By `arw-…`. */
const workClaims = collection('repository-work-claims', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ poolId: Type.String(), key: Type.String() }),
});

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
  readonly work: AgentWork & { readonly claim: WorkClaim };
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
