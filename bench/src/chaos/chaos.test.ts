import { describe, expect, test } from 'vitest';
import { extentOf } from './chaos.ts';
import { TRIALS } from './trials.ts';

/** Durations are not judged, as other tests run at the same time: only a missing response fails. */
const PATIENCE_MS = 120_000;

describe('in its short form', { timeout: 600_000 }, () => {
  const together = TRIALS.filter(({ isApart }) => isApart !== true);
  test.for(together.map((trial) => [trial.name, trial] as const))('%s holds', async ([, trial]) => {
    const report = await trial.run({
      ...extentOf(trial, 'short', 20_261_121),
      patienceMs: PATIENCE_MS,
      isOver: () => false,
      say: () => undefined,
    });
    expect(report.broken).toEqual([]);
  });
});
