import { describe, expect, test } from 'vitest';
import { pendingRun } from '../../../../test/pending-run.ts';
import { RUN_STATUSES, type RunStatus } from '../../../base/run-status.ts';
import { needsLock, nextRun, type Run, type RunEvent } from './run.ts';

const MINUTE_MS = 60_000;
const counts = { additions: 1, changes: 0, destructions: 0, imports: 0 };

const EVENTS: readonly RunEvent[] = [
  { kind: 'start_plan' },
  { kind: 'plan_finished', counts, hasChanges: true },
  { kind: 'confirm' },
  { kind: 'start_apply' },
  { kind: 'apply_finished', counts },
  { kind: 'fail' },
  { kind: 'cancel' },
  { kind: 'canceled' },
  { kind: 'force_cancel' },
  { kind: 'discard' },
];

/** Allowed events, and the status to which each leads. */
const outcomes = (from: Run, nowMs = 0): Record<string, RunStatus> =>
  Object.fromEntries(
    EVENTS.flatMap((event) => {
      const next = nextRun(from, event, nowMs);
      return next === undefined ? [] : [[event.kind, next.status]];
    }),
  );

const NEXT: Readonly<Partial<Record<RunStatus, Record<string, RunStatus>>>> = {
  pending: { start_plan: 'planning', fail: 'errored', cancel: 'canceled', discard: 'discarded' },
  planning: { plan_finished: 'planned', fail: 'errored', cancel: 'planning' },
  planned: { confirm: 'confirmed', discard: 'discarded' },
  planned_and_saved: { confirm: 'confirmed', discard: 'discarded' },
  confirmed: { start_apply: 'applying', fail: 'errored', cancel: 'canceled' },
  applying: { apply_finished: 'applied', fail: 'errored', cancel: 'applying' },
};

describe('a run', () => {
  test.for(RUN_STATUSES)('that is %s allows only the documented transitions', (status) => {
    expect(outcomes(pendingRun({ status }))).toEqual(NEXT[status] ?? {});
  });

  test.for(['planning', 'applying'] as const)(
    'whose %s is canceled receives the request once, and is abandoned after a minute',
    (status) => {
      const { cancel: _, ...others } = NEXT[status] ?? {};
      const asked = pendingRun({ status, cancelRequestedAtMs: 0 });
      // After a completed plan the run does not continue; a completed apply counts as applied.
      const late = status === 'planning' ? { plan_finished: 'canceled' } : {};
      const expected = { ...others, ...late, canceled: 'canceled' };
      expect(outcomes(asked, MINUTE_MS - 1)).toEqual(expected);
      expect(outcomes(asked, MINUTE_MS)).toEqual({ ...expected, force_cancel: 'force_canceled' });
    },
  );

  test.for([
    [{}, true, 'planned'],
    [{}, false, 'planned_and_finished'],
    [{ allowEmptyApply: true }, false, 'planned'],
    [{ autoApply: true }, true, 'confirmed'],
    [{ autoApply: true }, false, 'planned_and_finished'],
    [{ savePlan: true }, true, 'planned_and_saved'],
    [{ savePlan: true, autoApply: true }, true, 'planned_and_saved'],
    [{ savePlan: true }, false, 'planned_and_finished'],
    [{ planOnly: true }, true, 'planned_and_finished'],
    [{ planOnly: true, allowEmptyApply: true }, true, 'planned_and_finished'],
  ] as const)('with %j and changes %j becomes %s after its plan', ([given, hasChanges, status]) => {
    const event: RunEvent = { kind: 'plan_finished', counts, hasChanges };
    expect(nextRun(pendingRun({ ...given, status: 'planning' }), event, 0)?.status).toBe(status);
  });

  test.for([
    [{ status: 'planning' }, true],
    [{ status: 'applying' }, true],
    [{ status: 'planning', planOnly: true }, false],
    [{ status: 'planning', savePlan: true }, false],
    [{ status: 'confirmed', savePlan: true }, true],
    [{ status: 'applying', savePlan: true }, true],
  ] as const)('with %j needs the lock: %j', ([given, isNeeded]) => {
    expect(needsLock(pendingRun(given))).toBe(isNeeded);
  });
});
