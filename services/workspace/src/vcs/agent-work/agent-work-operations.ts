/** Agents do the work at repositories that only they reach: they claim it, and report how it ended. */

import { KeelsonError } from '@keelson/errors';
import { newResourceId } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type CommitRequest, type FoundCommit, RepositoryFailure } from '@keelson/repositories';
import { type Reads, readableOnly, type Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { isOrganizationOff } from '../../identity/model/organization-switch-records.ts';
import { requireOwnAgent, requireOwnPool } from '../../runs/agents/agent-operations.ts';
import { refuseOtherThanArchive } from '../../state/configuration-versions/configuration-version-operations.ts';
import { isAgentPoolOff } from '../../workspaces/model/part-switch-records.ts';
import {
  dueAtMsOf,
  queueRepositoryWork,
  type RepositoryWork,
  workNameOf,
} from '../../workspaces/model/repository-records.ts';
import { countAttempt, endAttempt } from '../ingress/attempt-operations.ts';
import { chooseWorkspaces } from '../ingress/fetch-choice.ts';
import {
  type PreparedFetch,
  prepareFetch,
  storeArchive,
  withSubmodulesOf,
} from '../ingress/fetch-operations.ts';
import { finishFetch } from '../ingress/ingress-operations.ts';
import {
  type AgentWork,
  type AgentWorkKey,
  agentWork,
  type ClaimedWork,
  findClaimedWork,
  queueAgentWork,
  type WorkClaim,
} from '../model/agent-work-records.ts';
import type { FetchWork } from '../model/waiting-fetches.ts';
import { findAgentPoolOf } from '../providers/agent-pool-of-work.ts';
import { findRefusalOfClient, requireClientOn } from '../providers/disabled-clients.ts';
import type { ProviderErrand } from '../providers/provider-errand.ts';
import { parseProviderAnswer, REQUEST_TIME_LIMIT_MS } from '../providers/provider-requests.ts';
import { afterFailure, prepareErrand } from '../repository-work/work-outcomes.ts';
import type { VcsContext } from '../seams/vcs-context.ts';

/** Time beyond the limit of a fetch that an agent has for its uploads. */
const UPLOAD_MS = 180_000;
/** Time that an agent has to report how its work ended. */
const REPORT_MS = 30_000;

/** Pieces of work of a pool that are looked at for one claim: more than a pool has agents. */
const LOOKED_AT = 500;

/** The task of an agent: a commit to fetch, or a request to send. */
export type WorkOrder =
  | { readonly kind: 'fetch'; readonly prepared: PreparedFetch; readonly request: CommitRequest }
  | { readonly kind: 'request'; readonly errand: ProviderErrand };

export interface OrderedWork {
  readonly claimId: string;
  readonly order: WorkOrder;
}

/** Ends an attempt; the work waits for its next one, in the pool's queue, or is given up. */
export const failAgentWork = async (
  context: VcsContext,
  tx: Transaction,
  key: AgentWorkKey,
  work: AgentWork,
  failure: RepositoryFailure,
): Promise<void> => {
  await agentWork.delete(tx, ...key);
  const again = await afterFailure(context, tx, work, failure);
  if (again === undefined) {
    endAttempt(tx, work.organizationId, workNameOf(key));
    return;
  }
  const { attempts, dueAtMs } = again;
  await queueAgentWork(tx, key[0], { ...work, attempts }, { dueAtMs, name: workNameOf(key) });
};

/** Returns work to the queue of the organization, from which it gets to whoever reaches the provider. */
export const returnWork = async (
  tx: Transaction,
  key: AgentWorkKey,
  queued: AgentWork,
): Promise<void> => {
  await agentWork.delete(tx, ...key);
  const { organizationId, work, attempts } = queued;
  const placed = { dueAtMs: dueAtMsOf(key), name: workNameOf(key), attempts };
  queueRepositoryWork(tx, organizationId, work, placed);
};

/** Longest time for which an agent has work. */
const durationOf = ({ fetchLimits }: VcsContext, { kind }: RepositoryWork): number =>
  REPORT_MS + (kind === 'fetch' ? fetchLimits.timeLimitMs + UPLOAD_MS : REQUEST_TIME_LIMIT_MS);

const prepareOrder = async (
  context: VcsContext,
  work: RepositoryWork,
): Promise<WorkOrder | undefined> => {
  if (work.kind !== 'fetch') {
    const errand = await prepareErrand(context, work);
    return errand && { kind: 'request', errand };
  }
  const prepared = await prepareFetch(context, work);
  const { request } = prepared ?? {};
  return prepared && request && { kind: 'fetch', prepared, request };
};

/** Work that turned out to need nothing of the provider is done. */
const finishWithout = async (
  context: VcsContext,
  tx: Transaction,
  work: FetchWork,
): Promise<void> => {
  const prepared = await prepareFetch(context, work);
  if (prepared === undefined) return;
  const { loaded, workspaces } = prepared;
  const choice = chooseWorkspaces(workspaces, work.event, undefined);
  await finishFetch(context, tx, work, { loaded, choice, fetched: undefined });
};

/** Gives one piece of work to an agent; undefined if it is gone, another's, or needs nobody. */
const tryClaim = async (
  context: VcsContext,
  agentId: string,
  key: AgentWorkKey,
): Promise<OrderedWork | undefined> => {
  const { store, clock } = context;
  const waiting = await agentWork.find(readableOnly(store), ...key);
  // An agent asks for work when it has none: what it had before a restart is lost.
  if (waiting === undefined || (waiting.claim !== null && waiting.claim.agentId !== agentId))
    return undefined;
  if (await isOrganizationOff(store, waiting.organizationId)) return undefined;
  const order = await prepareOrder(context, waiting.work);
  const sinceMs = clock.nowMs();
  const claim: WorkClaim = {
    id: newResourceId('arw'),
    agentId,
    sinceMs,
    untilMs: sinceMs + durationOf(context, waiting.work),
    found: null,
    archives: {},
  };
  const isClaimed = await store.transact(async (tx) => {
    const current = await agentWork.find(tx, ...key);
    if (current === undefined || current.claim?.id !== waiting.claim?.id) return false;
    if ((await findAgentPoolOf(tx, current.work)) !== key[0]) {
      await returnWork(tx, key, current);
      return false;
    }
    const refusal = await findRefusalOfClient(tx, current.work);
    if (refusal !== undefined) {
      await failAgentWork(context, tx, key, current, refusal);
      return false;
    }
    if (order === undefined) {
      await agentWork.delete(tx, ...key);
      if (current.work.kind === 'fetch') await finishWithout(context, tx, current.work);
      return false;
    }
    if (current.work.kind === 'fetch') {
      // Neither an agent that is lost nor one whose worker has died reports the end of the attempt.
      const place = [current.organizationId, workNameOf(key)] as const;
      const tooMany = await countAttempt(tx, context, place, current.work);
      if (tooMany !== undefined) {
        await failAgentWork(context, tx, key, current, tooMany);
        return false;
      }
    }
    await agentWork.write(tx, key, { ...current, claim });
    return true;
  });
  return isClaimed && order !== undefined ? { claimId: claim.id, order } : undefined;
};

/**
 * The work that has waited longest for an agent of the caller's pool; undefined when there is none.
 * @throws KeelsonError `workspace.not_found`
 */
export const claimWork = async (
  context: VcsContext,
  principal: Principal,
  agentId: string,
): Promise<OrderedWork | undefined> => {
  const { store, clock } = context;
  const { pool } = await requireOwnAgent(store, principal, agentId);
  if (await isAgentPoolOff(store, pool.id)) return undefined;
  for (const name of await agentWork.keys(store, [pool.id], { limit: LOOKED_AT })) {
    const key: AgentWorkKey = [pool.id, name];
    if (dueAtMsOf(key) > clock.nowMs()) return undefined;
    const claimed = await tryClaim(context, agentId, key);
    if (claimed !== undefined) return claimed;
  }
  return undefined;
};

/** The work of an agent of the caller's pool. @throws KeelsonError `workspace.not_found` */
const requireOwnWork = async (
  reads: Reads,
  principal: Principal,
  claimId: string,
): Promise<ClaimedWork> => {
  const pool = await requireOwnPool(reads, principal);
  const claimed = await findClaimedWork(reads, claimId);
  if (claimed?.key[0] !== pool.id) throw notFound('work');
  return claimed;
};

/** @throws KeelsonError `workspace.conflict` for work that is not about a commit */
const requireFetch = ({ work }: ClaimedWork): FetchWork => {
  if (work.work.kind === 'fetch') return work.work;
  throw new KeelsonError('workspace.conflict', { text: 'this work is a request, not a commit' });
};

/** Which archives of a commit workspaces want. */
export type ArchiveKind = 'plain' | 'with-submodules';

const wantedArchives = async (
  context: VcsContext,
  work: FetchWork,
  found: FoundCommit,
): Promise<ReadonlySet<ArchiveKind>> => {
  const { workspaces = [] } = (await prepareFetch(context, work)) ?? {};
  const { accepted } = chooseWorkspaces(workspaces, work.event, found);
  const kinds = found.commit === null ? [] : accepted.map(withSubmodulesOf);
  return new Set(kinds.map((withSubmodules) => (withSubmodules ? 'with-submodules' : 'plain')));
};

/**
 * Records the commit that an agent has found.
 * @returns the archives of it that the agent is to upload
 * @throws KeelsonError `workspace.not_found`, `workspace.conflict`
 */
export const reportCommit = async (
  context: VcsContext,
  principal: Principal,
  claimId: string,
  found: FoundCommit,
): Promise<ReadonlySet<ArchiveKind>> => {
  const work = requireFetch(await requireOwnWork(context.store, principal, claimId));
  const wanted = await wantedArchives(context, work, found);
  await context.store.transact(async (tx) => {
    const { key, work: current } = await requireOwnWork(tx, principal, claimId);
    await agentWork.write(tx, key, { ...current, claim: { ...current.claim, found } });
  });
  return wanted;
};

/** Stores an archive that an agent uploads. @throws KeelsonError `workspace.not_found` */
export const uploadArchive = async (
  context: VcsContext,
  claimId: string,
  kind: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> => {
  const { store } = context;
  const claimed = await findClaimedWork(store, claimId);
  const { found } = claimed?.work.claim ?? {};
  if (claimed === undefined || !found) throw notFound('work');
  const work = requireFetch(claimed);
  const { workspaces = [] } = (await prepareFetch(context, work)) ?? {};
  const { accepted } = chooseWorkspaces(workspaces, work.event, found);
  const archive = await storeArchive(context, pieces, accepted, refuseOtherThanArchive());
  const name = kind === 'plain' ? 'plain' : 'withSubmodules';
  await store.transact(async (tx) => {
    const { key, work: current } = (await findClaimedWork(tx, claimId)) ?? {};
    if (key === undefined || current === undefined) throw notFound('work');
    const archives = { ...current.claim.archives, [name]: archive };
    await agentWork.write(tx, key, { ...current, claim: { ...current.claim, archives } });
  });
};

/** How an agent says that its work ended. */
export type WorkEnd =
  | {
      readonly status: 'finished';
      /** The answer to a request, with the beginning of its body. */
      readonly answer: { readonly status: number; readonly text: string } | undefined;
    }
  | {
      readonly status: 'errored';
      readonly message: string;
      readonly isFinal: boolean;
      /** Whether the work ended the process that did it. */
      readonly workerDied: boolean;
    };

const finishAgentFetch = async (
  context: VcsContext,
  tx: Transaction,
  { work: { claim } }: ClaimedWork,
  work: FetchWork,
): Promise<void> => {
  const { found, archives } = claim;
  if (found === null) throw new RepositoryFailure('the agent has reported no commit');
  const prepared = await prepareFetch(context, work);
  if (prepared === undefined) return;
  const { loaded, workspaces } = prepared;
  const choice = chooseWorkspaces(workspaces, work.event, found);
  const { commit, defaultBranch } = found;
  const fetched = commit === null ? undefined : { commit, defaultBranch, archives };
  const isMissing = choice.accepted.some(
    (workspace) =>
      (withSubmodulesOf(workspace) ? archives.withSubmodules : archives.plain) === undefined,
  );
  if (fetched !== undefined && isMissing)
    throw new RepositoryFailure('the agent has not uploaded the files of the commit');
  await finishFetch(context, tx, work, { loaded, choice, fetched });
};

const finishWork = async (
  context: VcsContext,
  tx: Transaction,
  claimed: ClaimedWork,
  answer: Extract<WorkEnd, { status: 'finished' }>['answer'],
): Promise<void> => {
  const { work } = claimed.work;
  await requireClientOn(tx, work);
  if (work.kind === 'fetch') {
    await finishAgentFetch(context, tx, claimed, work);
    return;
  }
  const errand = await prepareErrand(context, work);
  if (errand === undefined) return;
  if (answer === undefined) throw new RepositoryFailure('the agent has reported no answer');
  const { request, alsoFine } = errand;
  const { host } = new URL(request.url);
  await errand.complete(tx, parseProviderAnswer(host, answer, alsoFine));
};

/** Ends the work of an agent. @throws KeelsonError `workspace.not_found` */
export const endWork = async (
  context: VcsContext,
  principal: Principal,
  claimId: string,
  end: WorkEnd,
): Promise<void> => {
  const { store } = context;
  const fail = (failure: RepositoryFailure, isDeath: boolean): Promise<void> =>
    store.transact(async (tx) => {
      const { key, work } = await requireOwnWork(tx, principal, claimId);
      if (!isDeath) endAttempt(tx, work.organizationId, workNameOf(key));
      await failAgentWork(context, tx, key, work, failure);
    });
  if (end.status === 'errored') {
    await fail(new RepositoryFailure(end.message, end), end.workerDied);
    if (end.workerDied) context.workerCounters.deaths.inc('agent');
    return;
  }
  try {
    await store.transact(async (tx) => {
      const claimed = await requireOwnWork(tx, principal, claimId);
      endAttempt(tx, claimed.work.organizationId, workNameOf(claimed.key));
      await agentWork.delete(tx, ...claimed.key);
      await finishWork(context, tx, claimed, end.answer);
    });
  } catch (error) {
    if (!(error instanceof RepositoryFailure)) throw error;
    await fail(error, false);
  }
};
