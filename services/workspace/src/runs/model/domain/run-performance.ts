/** Updates a workspace's summary of its runs: the current run, and the outcomes of the last finished ones. */

import type { RunOutcome, WorkspaceRuns } from '../../../workspaces/model/domain/workspace-runs.ts';
import { isFinal, type Run } from './run.ts';

/** Number of finished runs included in the figures. */
export const PERFORMANCE_WINDOW = 30;

const between = (fromMs: number | undefined, untilMs: number | undefined): number | null =>
  fromMs === undefined || untilMs === undefined ? null : untilMs - fromMs;

const toOutcome = (run: Run): RunOutcome => {
  const { planning, planned, planned_and_saved, confirmed, applying, applied, errored } =
    run.statusTimesMs;
  return {
    hasFailed: run.status === 'errored',
    planMs: between(planning, planned ?? planned_and_saved ?? confirmed ?? errored),
    applyMs: between(applying, applied ?? errored),
  };
};

/**
 * The summary after a change of a run. A pending run becomes the current one when the previous one has ended.
 */
export const decideRuns = (runs: WorkspaceRuns, run: Run): WorkspaceRuns => {
  const newest = {
    newestNumber: Math.max(runs.newestNumber, run.number),
    newestOrder: Math.max(runs.newestOrder ?? 0, run.order ?? 0),
  };
  if (run.planOnly) return { ...runs, ...newest };
  const { current, finished } = runs;
  const takesOver =
    current === null ||
    current.id === run.id ||
    isFinal(current.status) ||
    (run.status !== 'pending' && !isFinal(run.status));
  const { id, status, createdAtMs, configurationVersionId } = run;
  const counts = status === 'applied' || status === 'errored';
  return {
    ...newest,
    current: takesOver ? { id, status, createdAtMs, configurationVersionId } : current,
    finished: counts ? [...finished, toOutcome(run)].slice(-PERFORMANCE_WINDOW) : finished,
  };
};

const mean = (durations: readonly (number | null)[]): number => {
  const known = durations.filter((duration) => duration !== null);
  return known.length === 0
    ? 0
    : Math.round(known.reduce((sum, duration) => sum + duration, 0) / known.length);
};

export interface Performance {
  readonly planDurationAverageMs: number;
  readonly applyDurationAverageMs: number;
  readonly failures: number;
  readonly count: number;
}

export const toPerformance = ({ finished }: WorkspaceRuns): Performance => ({
  planDurationAverageMs: mean(finished.map(({ planMs }) => planMs)),
  applyDurationAverageMs: mean(finished.map(({ applyMs }) => applyMs)),
  failures: finished.filter(({ hasFailed }) => hasFailed).length,
  count: finished.length,
});
