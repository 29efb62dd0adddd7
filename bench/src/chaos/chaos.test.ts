import { describe, expect, test } from 'vitest';
import { TRIALS } from './trials.ts';

describe('in its short form', () => {
  const together = TRIALS.filter(({ isApart }) => isApart !== true);
  test.for(together.map((trial) => [trial.name, trial] as const))('%s holds', async ([, trial]) => {
    const seed = 20_261_121;
    const report = await trial.run({ count: trial.counts.short, seed, say: () => undefined });
    expect(report.broken).toEqual([]);
  });
});
