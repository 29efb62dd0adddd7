import { expect, test } from 'vitest';
import type { Run, RunStatus } from './run.ts';
import { decideRuns, NO_RUNS, PERFORMANCE_WINDOW, toPerformance } from './run-performance.ts';

const applied = (id: string, applyMs: number, status: RunStatus = 'applied'): Run => ({
  id,
  number: 1,
  organizationId: 'org-1',
  workspaceId: 'ws-1',
  configurationVersionId: 'cv-1',
  status,
  statusTimesMs: { planning: 0, planned: 1000, applying: 5000, [status]: 5000 + applyMs },
  message: '',
  source: 'tfe-api',
  isDestroy: false,
  refresh: true,
  refreshOnly: false,
  autoApply: false,
  planOnly: false,
  savePlan: false,
  allowEmptyApply: false,
  targetAddrs: [],
  replaceAddrs: [],
  variables: [],
  terraformVersion: '1.11.4',
  planned: null,
  applied: null,
  cancelRequestedAtMs: null,
  agentPoolId: null,
  agentId: null,
  stateVersionIds: [],
  createdById: null,
  createdAtMs: 0,
});

test('counts the last thirty runs that were applied or failed, and no others', () => {
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

test('leaves the current run to those that may be applied', () => {
  const runs = decideRuns(NO_RUNS, applied('run-1', 1000));
  const planned = { ...applied('run-2', 0, 'planned_and_finished'), planOnly: true };
  expect(decideRuns(runs, planned)).toEqual(runs);
});
