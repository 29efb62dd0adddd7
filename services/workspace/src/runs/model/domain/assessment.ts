/**
 * Health assessments: a refresh-only plan shows whether the infrastructure still matches the state. An
 * assessment is a run that lists leave out; its outcome is the result of the assessment.
 */
import type { WorkspaceAssessments } from '../../../workspaces/model/domain/workspace-assessments.ts';
import { isFinal, type Run } from './run.ts';

/** An assessment that is cancelled or abandoned has no result. */
export const hasResult = ({ status }: Pick<Run, 'status'>): boolean =>
  status === 'planned_and_finished' || status === 'errored';

/** The workspace's summary after a change of an assessment. */
export const decideAssessments = (
  before: WorkspaceAssessments | undefined,
  run: Run,
): WorkspaceAssessments => {
  const atMs = run.statusTimesMs[run.status];
  return {
    newest: { atMs: run.createdAtMs, isOver: isFinal(run.status) },
    result:
      hasResult(run) && atMs !== undefined ? { runId: run.id, atMs } : (before?.result ?? null),
  };
};

/** The reasons for which a workspace with assessments enabled may not be assessed now. */
interface Obstacles {
  readonly assessments: WorkspaceAssessments | undefined;
  readonly currentRunStatus: Run['status'] | undefined;
  readonly isLocked: boolean;
  readonly resourceCount: number;
}

interface Facts extends Obstacles {
  readonly latestChangeAtMs: number;
  /** Time between an assessment, or a change of the state, and the next assessment. */
  readonly intervalMs: number;
}

/** Why no assessment can start now; undefined if one can. */
export const findObstacle = (facts: Obstacles): string | undefined => {
  const { assessments, currentRunStatus, isLocked, resourceCount } = facts;
  // Any change made now would be taken for drift.
  if (isLocked) return 'the workspace is locked';
  if (currentRunStatus !== undefined && !isFinal(currentRunStatus))
    return 'the current run of the workspace has not ended';
  if (assessments?.newest.isOver === false) return 'the assessment before has not ended';
  return resourceCount > 0 ? undefined : 'the state of the workspace manages nothing';
};

/** Whether an assessment of a workspace with assessments enabled is due now. */
export const isDue = (facts: Facts, nowMs: number): boolean => {
  const latestMs = Math.max(facts.assessments?.newest.atMs ?? 0, facts.latestChangeAtMs);
  return findObstacle(facts) === undefined && nowMs - latestMs >= facts.intervalMs;
};

/** A result has the random part of its run's id under another prefix. */
export const toAssessmentId = (runId: string): string => runId.replace('run-', 'asmtres-');
export const toAssessmentRunId = (id: string): string => id.replace(/^asmtres-/, 'run-');
