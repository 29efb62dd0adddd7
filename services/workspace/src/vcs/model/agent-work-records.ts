/** Work at repositories that only the agents of a pool reach, until one of them has done it. */

import { collection, type Reads, rowContent, type Transaction } from '@keelson/storage';
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

/** Where work is in `agentWork`. */
export type AgentWorkKey = readonly [poolId: string, key: string];

const toWorkPlace = (path: string): AgentWorkKey => {
  const [poolId = '', key = ''] = path.split('/');
  return [poolId, key];
};

/**
 * `apool-…`; the time from which it is due, and a name, as in the queue of the organization. "claim" is the `arw-…`
 * of the claim.
 */
export const agentWork = collection('agent-repository-work', {
  scope: 'shared',
  version: 1,
  shape: agentWorkShape,
  owner: { kind: 'agent-pool', by: '*' },
  index: [
    {
      name: 'claim',
      unique: true,
      values: ({ claim }) => (claim === null ? [] : [claim.id]),
      rows: {
        at: 'repository-work-claims',
        content: rowContent(
          Type.Object({ poolId: Type.String(), key: Type.String() }),
          (_, path) => {
            const [poolId, key] = toWorkPlace(path);
            return { poolId, key };
          },
          ({ poolId, key }) => `${poolId}/${key}`,
        ),
      },
    },
  ],
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
): Promise<void> =>
  agentWork.write(tx, [poolId, toWorkKey(dueAtMs, name)], {
    organizationId: work.organizationId,
    work: work.work,
    attempts: work.attempts,
    claim: null,
    isMissed: false,
  });

export interface ClaimedWork {
  readonly key: AgentWorkKey;
  readonly work: AgentWork & { readonly claim: WorkClaim };
}

/** The work with a claim, unless the claim has ended. */
export const findClaimedWork = async (
  reads: Reads,
  claimId: string,
): Promise<ClaimedWork | undefined> => {
  const path = await agentWork.by.claim.findKey(reads, claimId);
  if (path === undefined) return undefined;
  const key = toWorkPlace(path);
  const work = await agentWork.find(reads, ...key);
  if (work?.claim?.id !== claimId) return undefined;
  return { key, work: { ...work, claim: work.claim } };
};
