import { expect, test } from 'vitest';
import { pendingRun } from '../../../../test/pending-run.ts';
import type { RunStatus } from '../../../base/run-status.ts';
import { NO_RUNS } from '../../../workspaces/model/domain/workspace-runs.ts';
import type { Run } from './run.ts';
import { decideRuns, PERFORMANCE_WINDOW, toPerformance } from './run-performance.ts';

const applied = (id: string, applyMs: number, status: RunStatus = 'applied'): Run =>
  pendingRun({
    id,
    status,
    statusTimesMs: { planning: 0, planned: 1000, applying: 5000, [status]: 5000 + applyMs },
  });

test('the statistics count the last thirty runs that were applied or failed, and no others', () => {
  let runs = decideRuns(NO_RUNS, applied('run-first', 900_000, 'errored'));
  runs = decideRuns(runs, applied('run-idle', 900_000, 'discarded'));
  expect(toPerformance(runs)).toMatchObject({ count: 1, failures: 1 });
  for (let at = 0; at < PERFORMANCE_WINDOW; at += 1) {
    runs = decideRuns(runs, applied(`run-${at}`, at % 2 === 0 ? 1000 : 3000));
  }
  expect(toPerformance(runs)).toEqual({
    planDurationAverageMs: 1000,
    applyDurationAverageMs: 2000,
    failures: 0,
    count: PERFORMANCE_WINDOW,
  });
});

test('only runs that can be applied become the current run', () => {
  const runs = decideRuns(NO_RUNS, applied('run-1', 1000));
  const planned = { ...applied('run-2', 0, 'planned_and_finished'), planOnly: true };
  expect(decideRuns(runs, planned)).toEqual(runs);
});

test.for(['planned_and_finished', 'discarded', 'canceled', 'force_canceled'] as const)(
  'the statistics do not count a run that is %s',
  (status) => {
    const runs = decideRuns(NO_RUNS, applied('run-1', 1000, status));
    expect(toPerformance(runs)).toMatchObject({ count: 0, failures: 0 });
  },
);

test.for([
  [
    'confirmed by a person',
    { planning: 0, planned: 1, confirmed: 9, applying: 10, applied: 12 },
    1,
    2,
  ],
  [
    'applied of its saved plan',
    { planning: 0, planned_and_saved: 3, confirmed: 9, applying: 10, applied: 14 },
    3,
    4,
  ],
  ['applied by itself', { planning: 0, confirmed: 5, applying: 10, applied: 16 }, 5, 6],
  ['errored in its plan', { planning: 0, errored: 7 }, 7, 0],
  [
    'errored in its apply',
    { planning: 0, planned: 1, confirmed: 9, applying: 10, errored: 18 },
    1,
    8,
  ],
  ['errored before its plan', { errored: 9 }, 0, 0],
] as const)(
  'the statistics use the durations of a run that was %s',
  ([, statusTimesMs, planMs, applyMs]) => {
    const status = 'errored' in statusTimesMs ? 'errored' : 'applied';
    const runs = decideRuns(NO_RUNS, { ...applied('run-1', 0, status), statusTimesMs });
    expect(toPerformance(runs)).toMatchObject({
      planDurationAverageMs: planMs,
      applyDurationAverageMs: applyMs,
    });
  },
);

test.for([
  ['planned', 'pending', 'run-1'],
  ['applied', 'pending', 'run-2'],
  ['planned', 'planning', 'run-2'],
  ['planned', 'discarded', 'run-1'],
] as const)(
  'with a current run that is %s and another that is %s, yields %s',
  ([current, next, id]) => {
    const runs = decideRuns(NO_RUNS, applied('run-1', 1000, current));
    expect(decideRuns(runs, applied('run-2', 1000, next)).current?.id).toBe(id);
  },
);
