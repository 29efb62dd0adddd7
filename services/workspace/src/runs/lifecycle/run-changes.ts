/** Stores a run and updates its workspace: lock, current run and performance figures. */
import { KeelsonError } from '@keelson/errors';
import { readableOnly, type Transaction, unlessDamaged } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { deleteTokensOf } from '../../identity/tokens/token-operations.ts';
import { withAppliedConfiguration } from '../../state/configuration-versions/configuration-adoption.ts';
import {
  withoutPendingState,
  withoutPendingStateOf,
  withPromotedState,
} from '../../state/state-versions/state-version-operations.ts';
import { runGrants } from '../../workspaces/access/run-grant-records.ts';
import { agentRecords } from '../../workspaces/model/agent-records.ts';
import type { Agent } from '../../workspaces/model/domain/agent.ts';
import { isHeldBy, type Lock } from '../../workspaces/model/domain/lock.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import { NO_RUNS } from '../../workspaces/model/domain/workspace-runs.ts';
import { queueRepositoryWork } from '../../workspaces/model/repository-records.ts';
import {
  findWorkspaceAssessments,
  storeWorkspaceAssessments,
} from '../../workspaces/model/workspace-assessments-records.ts';
import {
  findWorkspaceLocking,
  storeWorkspaceLocking,
} from '../../workspaces/model/workspace-lock-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import {
  findWorkspaceRuns,
  storeWorkspaceRuns,
} from '../../workspaces/model/workspace-runs-records.ts';
import { decideAssessments } from '../model/domain/assessment.ts';
import {
  isAssessment,
  isExecuting,
  isFinal,
  needsLock,
  nextRun,
  type Run,
  type RunEvent,
} from '../model/domain/run.ts';
import { decideRuns } from '../model/domain/run-performance.ts';
import { removeRunDataOf, runRecords, toPhase, toPhaseId } from '../model/run-records.ts';
import { completeLog, startLog } from './run-log-operations.ts';
import { notifyOfRun } from './run-notifications.ts';

const holds = (lock: Lock | null, run: Run): boolean =>
  lock !== null && isHeldBy(lock, { kind: 'run', id: run.id });

/**
 * The workspace after a change of a run. A run that has ended releases the lock; a run that lost the lock by
 * force stops blocking others when its phase ends. Its pending state will not be uploaded any more. A run ends
 * also if it cannot be read who holds the lock, which then stays until it is removed by force.
 */
const released = async (tx: Transaction, workspace: Workspace, run: Run): Promise<Workspace> => {
  const locking = await unlessDamaged(findWorkspaceLocking(tx, workspace));
  if (locking === undefined) return workspace;
  if (isFinal(run.status) && holds(locking.lock, run)) {
    const unlocked = storeWorkspaceLocking(tx, workspace, { ...locking, lock: null });
    return withPromotedState(tx, await withoutPendingState(tx, unlocked));
  }
  if (locking.unlockedRunId !== run.id || isExecuting(run.status)) return workspace;
  const next = storeWorkspaceLocking(tx, workspace, { ...locking, unlockedRunId: null });
  const left = await withoutPendingStateOf(tx, next, run.id);
  return locking.lock === null ? withPromotedState(tx, left) : left;
};

/** Queues a report of the run's step to the provider of the commit that has started it. */
const queueReport = (tx: Transaction, { id, organizationId, commitSha, ...run }: Run): void => {
  if (commitSha === undefined) return;
  const dueAtMs = run.statusTimesMs[run.status] ?? run.createdAtMs;
  queueRepositoryWork(tx, organizationId, { kind: 'report', runId: id }, { dueAtMs, name: id });
};

/** The workspace after a change of an assessment, which ends whether or not those before can be read. */
const withAssessment = async (
  tx: Transaction,
  workspace: Workspace,
  run: Run,
): Promise<Workspace> => {
  const before = await unlessDamaged(findWorkspaceAssessments(tx, workspace));
  return storeWorkspaceAssessments(tx, workspace, decideAssessments(before, run));
};

/**
 * Stores a run with the resulting current run and performance figures, and its workspace if that has changed, as by
 * the lock.
 */
export const storeRun = async (tx: Transaction, workspace: Workspace, run: Run): Promise<Run> => {
  const before = await runRecords.find(tx, run.id);
  const next = await released(tx, workspace, run);
  const configured =
    run.status === 'applied'
      ? await withAppliedConfiguration(tx, next, run.configurationVersionId)
      : next;
  const assessed = isAssessment(run) ? await withAssessment(tx, configured, run) : configured;
  // A run ends whether or not the summary can be read.
  const runs = (await unlessDamaged(findWorkspaceRuns(tx, workspace))) ?? NO_RUNS;
  const after = storeWorkspaceRuns(tx, assessed, decideRuns(runs, run));
  if (after !== (await workspaceRecords.find(tx, workspace.id)))
    await workspaceRecords.write(tx, workspace.id, after);
  await runRecords.write(tx, [run.id], run);
  if (before?.status === run.status) return run;
  queueReport(tx, run);
  await notifyOfRun(tx, workspace, run);
  return run;
};

const statusConflict = (run: Run, event: RunEvent): KeelsonError =>
  new KeelsonError('workspace.conflict', {
    text: `transition not allowed: ${event.kind.replaceAll('_', ' ')} of a run that is ${run.status}`,
  });

/** Releases the agent of a run, and revokes the run's token and its access. */
const releaseAgent = async (tx: Transaction, run: Pick<Run, 'id' | 'agentId'>): Promise<void> => {
  // The token of a run that has ended authenticates nobody, even where it cannot be deleted.
  await unlessDamaged(deleteTokensOf(tx, run.id));
  runGrants.delete(tx, run.id);
  const agent = await agentRecords.find(readableOnly(tx), run.agentId ?? '');
  if (agent?.runId !== run.id) return;
  // The built-in runner has an agent for each phase.
  if (agent.poolId === null) await agentRecords.delete(tx, agent.id);
  else await agentRecords.write(tx, agent.id, { ...agent, runId: null });
};

const endPhase = async (tx: Transaction, run: Run, lastWords?: string): Promise<void> => {
  await completeLog(tx, toPhaseId(run.id, toPhase(run)), lastWords);
  await releaseAgent(tx, run);
};

/** Releases the agents that execute runs of a deleted workspace, and removes the data of all its runs. */
export const removeRuns = async (tx: Transaction, workspaceId: string): Promise<void> => {
  for (const id of await runRecords.by.open.keys(tx, workspaceId)) {
    const run = await runRecords.find(readableOnly(tx), id);
    await releaseAgent(tx, run ?? { id, agentId: null });
  }
  await removeRunDataOf(tx, workspaceId);
};

/**
 * @param lastWords appended to the log of the phase that ends, when its agent wrote no reason
 * @throws KeelsonError `workspace.conflict` when the run's status does not allow it
 */
export const changeRun = async (
  tx: Transaction,
  runId: string,
  event: RunEvent,
  nowMs: number,
  lastWords?: string,
): Promise<Run> => {
  const run = await runRecords.find(tx, runId);
  const workspace = run && (await workspaceRecords.find(tx, run.workspaceId));
  if (run === undefined || workspace === undefined) throw notFound('run');
  const next = nextRun(run, event, nowMs);
  if (next === undefined) throw statusConflict(run, event);
  if (isExecuting(run.status) && !isExecuting(next.status)) await endPhase(tx, run, lastWords);
  return storeRun(tx, workspace, next);
};

/** Ends a run whose next phase no agent would claim; `reason` becomes the log of that phase. */
export const failWaitingRun = async (
  tx: Transaction,
  run: Run,
  reason: string,
  nowMs: number,
): Promise<Run> => {
  const phaseId = toPhaseId(run.id, run.status === 'pending' ? 'plan' : 'apply');
  startLog(tx, phaseId);
  await completeLog(tx, phaseId, `${reason}\n`);
  return changeRun(tx, run.id, { kind: 'fail' }, nowMs);
};

/** Ends the phase of a run whose agent is gone. */
export const failRunOf = async (
  tx: Transaction,
  runId: string,
  lastWords: string,
  nowMs: number,
): Promise<void> => {
  const run = await runRecords.find(readableOnly(tx), runId);
  if (run === undefined || !isExecuting(run.status)) return;
  await changeRun(tx, runId, { kind: 'fail' }, nowMs, `\n${lastWords}\n`);
};

/** Starts a phase: from now on the run's token gives access to states. */
const storeStarted = (tx: Transaction, workspace: Workspace, run: Run): Promise<Run> => {
  const { organizationId, id: workspaceId } = workspace;
  const stateVersions = run.status === 'applying' ? 'write' : 'read';
  runGrants.write(tx, [run.id], { organizationId, workspaceId, stateVersions });
  return storeRun(tx, workspace, run);
};

/**
 * Assigns a phase to an agent; undefined when another run holds the required lock, or when a run that lost
 * the lock by force is still being executed.
 */
export const startPhase = async (
  tx: Transaction,
  run: Run,
  agent: Pick<Agent, 'id' | 'poolId'>,
  nowMs: number,
): Promise<Run | undefined> => {
  const workspace = await workspaceRecords.find(tx, run.workspaceId);
  const event: RunEvent = { kind: run.status === 'pending' ? 'start_plan' : 'start_apply' };
  const started = nextRun(run, event, nowMs);
  if (workspace === undefined || started === undefined) return undefined;
  const next = { ...started, agentPoolId: agent.poolId, agentId: agent.id };
  if (!needsLock(next)) return storeStarted(tx, workspace, next);
  const locking = await findWorkspaceLocking(tx, workspace);
  if (locking.unlockedRunId !== null) return undefined;
  if (locking.lock !== null && !holds(locking.lock, run)) return undefined;
  if (locking.lock !== null) return storeStarted(tx, workspace, next);
  const holder = { kind: 'run', id: run.id } as const;
  const lock = { holder, reason: run.message, lockedAtMs: nowMs };
  return storeStarted(tx, storeWorkspaceLocking(tx, workspace, { ...locking, lock }), next);
};
