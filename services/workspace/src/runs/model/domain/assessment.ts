/**
 * Health assessments: a refresh-only plan shows whether the infrastructure still matches the state. An
 * assessment is a run that lists leave out; its outcome is the result of the assessment.
 */
import type { WorkspaceAssessments } from '../../../workspaces/model/domain/workspace-assessments.ts';
import { isAssessment, isFinal, type Run } from './run.ts';

/** The first release of the tool that can plan without proposing changes. */
export const FIRST_ASSESSING_RELEASE = '0.15.4';

/** An assessment that is cancelled or abandoned has no result. */
export const hasResult = ({ status }: Pick<Run, 'status'>): boolean =>
  status === 'planned_and_finished' || status === 'errored';

/** The workspace's summary after a change of a run. */
export const decideAssessments = (
  before: WorkspaceAssessments | undefined,
  run: Run,
): WorkspaceAssessments | undefined => {
  if (!isAssessment(run)) return before;
  const atMs = run.statusTimesMs[run.status];
  return {
    newest: { atMs: run.createdAtMs, isOver: isFinal(run.status) },
    result:
      hasResult(run) && atMs !== undefined ? { runId: run.id, atMs } : (before?.result ?? null),
  };
};

interface Facts {
  readonly assessments: WorkspaceAssessments | undefined;
  readonly latestChangeAtMs: number;
  readonly currentRunStatus: Run['status'] | undefined;
  readonly isLocked: boolean;
  readonly resourceCount: number;
  /** Time between an assessment, or a change of the state, and the next assessment. */
  readonly intervalMs: number;
}

/** Whether an assessment of a workspace with assessments enabled is due now. */
export const isDue = (facts: Facts, nowMs: number): boolean => {
  const { assessments, latestChangeAtMs, currentRunStatus, isLocked, resourceCount } = facts;
  // Any change made now would be taken for drift.
  const isAtWork = isLocked || (currentRunStatus !== undefined && !isFinal(currentRunStatus));
  const newest = assessments?.newest ?? { atMs: 0, isOver: true };
  const sinceMs = nowMs - Math.max(newest.atMs, latestChangeAtMs);
  return !isAtWork && newest.isOver && resourceCount > 0 && sinceMs >= facts.intervalMs;
};

/** A result has the random part of its run's id under another prefix. */
export const toAssessmentId = (runId: string): string => runId.replace('run-', 'asmtres-');
export const toAssessmentRunId = (id: string): string => id.replace(/^asmtres-/, 'run-');
