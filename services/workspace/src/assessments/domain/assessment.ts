/**
 * Health assessments: a plan that only refreshes tells whether the infrastructure is still as the state
 * says. It is a run that no list shows; what came of it is the assessment's result.
 */
import { isAssessment, isFinal, type Run } from '../../runs/domain/run.ts';

/** The first release of the tool that can plan without proposing changes. */
export const FIRST_ASSESSING_RELEASE = '0.15.4';

/** What a workspace remembers of its assessments. */
export interface WorkspaceAssessments {
  readonly newest: { readonly atMs: number; readonly isOver: boolean };
  /** Of the newest that came to a result; null before the first. */
  readonly result: { readonly runId: string; readonly atMs: number } | null;
}

/** One that is stopped or given up has no result. */
export const hasResult = ({ status }: Pick<Run, 'status'>): boolean =>
  status === 'planned_and_finished' || status === 'errored';

/** After a change of a run. */
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
  /** From one assessment, or one change of the state, to the next assessment. */
  readonly intervalMs: number;
}

/** Whether a workspace whose assessments are enabled is to be assessed now. */
export const isDue = (facts: Facts, nowMs: number): boolean => {
  const { assessments, latestChangeAtMs, currentRunStatus, isLocked, resourceCount } = facts;
  // Whatever changes it now would be taken for drift.
  const isAtWork = isLocked || (currentRunStatus !== undefined && !isFinal(currentRunStatus));
  const newest = assessments?.newest ?? { atMs: 0, isOver: true };
  const sinceMs = nowMs - Math.max(newest.atMs, latestChangeAtMs);
  return !isAtWork && newest.isOver && resourceCount > 0 && sinceMs >= facts.intervalMs;
};

/** A result carries the random part of its run under a prefix of its own. */
export const toAssessmentId = (runId: string): string => runId.replace('run-', 'asmtres-');
export const toAssessmentRunId = (id: string): string => id.replace(/^asmtres-/, 'run-');
