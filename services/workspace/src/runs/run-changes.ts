/** Writing a run with what it means for its workspace: the lock, the current run, the performance. */
import { KeelsonError } from '@keelson/errors';
import type { Transaction } from '@keelson/storage';
import { notFound } from '../access/access-operations.ts';
import { agentRecords } from '../agents/agent-records.ts';
import type { Agent } from '../agents/domain/agent.ts';
import { decideAssessments } from '../assessments/domain/assessment.ts';
import { withAppliedConfiguration } from '../configuration-versions/configuration-adoption.ts';
import { isHeldBy, type Lock } from '../locking/domain/lock.ts';
import {
  withoutPendingState,
  withoutPendingStateOf,
  withPromotedState,
} from '../states/state-version-operations.ts';
import { deleteTokensOf } from '../tokens/token-operations.ts';
import type { Workspace } from '../workspaces/domain/workspace.ts';
import { workspaceRecords } from '../workspaces/workspace-records.ts';
import { isExecuting, isFinal, needsLock, nextRun, type Run, type RunEvent } from './domain/run.ts';
import { decideRuns } from './domain/run-performance.ts';
import { completeLog, startLog } from './run-log-operations.ts';
import {
  openRuns,
  removeRunsOf,
  runRecords,
  toPhase,
  toPhaseId,
  workspaceRuns,
} from './run-records.ts';

const holds = (lock: Lock | null, run: Run): boolean =>
  lock !== null && isHeldBy(lock, { kind: 'run', id: run.id });

/**
 * The workspace after a change of a run: one that has ended gives the lock back, and one that lost it by
 * force stops standing in the way of others when its phase ends. What it announced and did not upload will
 * not arrive any more.
 */
const released = async (tx: Transaction, workspace: Workspace, run: Run): Promise<Workspace> => {
  if (isFinal(run.status) && holds(workspace.lock, run)) {
    const unlocked = await withoutPendingState(tx, { ...workspace, lock: null });
    return withPromotedState(tx, unlocked);
  }
  if (workspace.unlockedRunId !== run.id || isExecuting(run.status)) return workspace;
  const left = await withoutPendingStateOf(tx, { ...workspace, unlockedRunId: null }, run.id);
  return left.lock === null ? withPromotedState(tx, left) : left;
};

/** Writes a run and its workspace, with the lock, the current run and the performance that follow. */
export const storeRun = async (tx: Transaction, workspace: Workspace, run: Run): Promise<Run> => {
  const hasEnded = isFinal(run.status);
  const next = await released(tx, workspace, run);
  const configured = await withAppliedConfiguration(tx, next, run);
  const assessments = decideAssessments(workspace.assessments, run);
  workspaceRecords.write(tx, [workspace.id], {
    ...configured,
    runs: decideRuns(workspace.runs, run),
    ...(assessments && { assessments }),
  });
  runRecords.write(tx, [run.id], run);
  workspaceRuns.write(tx, [workspace.id, run.id], {});
  if (hasEnded) openRuns.delete(tx, workspace.id, run.id);
  else openRuns.write(tx, [workspace.id, run.id], { createdAtMs: run.createdAtMs });
  return run;
};

const statusConflict = (run: Run, event: RunEvent): KeelsonError =>
  new KeelsonError('workspace.conflict', {
    text: `transition not allowed: ${event.kind.replaceAll('_', ' ')} of a run that is ${run.status}`,
  });

/** An agent no longer works on the run: its token ends, and it is free. */
const releaseAgent = async (tx: Transaction, run: Run): Promise<void> => {
  await deleteTokensOf(tx, run.id);
  const agent = await agentRecords.find(tx, run.agentId ?? '');
  if (agent?.runId === run.id) agentRecords.write(tx, [agent.id], { ...agent, runId: null });
};

const endPhase = async (tx: Transaction, run: Run, lastWords?: string): Promise<void> => {
  await completeLog(tx, toPhaseId(run.id, toPhase(run)), lastWords);
  await releaseAgent(tx, run);
};

/** With their workspace, whoever works on them. */
export const removeRuns = async (tx: Transaction, workspaceId: string): Promise<void> => {
  for (const id of await openRuns.keys(tx, [workspaceId])) {
    const run = await runRecords.find(tx, id);
    if (run !== undefined) await releaseAgent(tx, run);
  }
  await removeRunsOf(tx, workspaceId);
};

/**
 * @param lastWords for the log of the phase that ends, where its agent said nothing
 * @throws KeelsonError `workspace.conflict` where the run's status does not allow it
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

/** Ends a run whose next phase no agent would take; `reason` is the log of that phase. */
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
  const run = await runRecords.find(tx, runId);
  if (run === undefined || !isExecuting(run.status)) return;
  await changeRun(tx, runId, { kind: 'fail' }, nowMs, `\n${lastWords}\n`);
};

/**
 * Gives a phase to an agent; undefined when another holds the lock that it needs, or when a run that lost
 * the lock by force still works.
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
  if (!needsLock(next)) return storeRun(tx, workspace, next);
  if (workspace.unlockedRunId !== null) return undefined;
  if (workspace.lock !== null && !holds(workspace.lock, run)) return undefined;
  const lock: Lock = workspace.lock ?? {
    holder: { kind: 'run', id: run.id, name: run.id },
    reason: run.message,
    lockedAtMs: nowMs,
  };
  return storeRun(tx, { ...workspace, lock }, next);
};
