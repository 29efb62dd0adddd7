import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, Figure } from '../bench.ts';
import { measureApply, measureIssue, measureWorkspaces, type Size } from './growth-costs.ts';

const COUNTS = [10_000, 100_000, 1_000_000];
const QUICK_COUNTS = [300, 600];

export const growth: Bench = {
  name: 'growth',
  claim:
    'P14: P1, P7, P8 and P11 at 10,000, 100,000 and 1,000,000 records grow no faster than log n',
  method:
    'Stores filled with copies of a record, each in this process; CPU of all threads for one operation. ' +
    'The limit is what the cost at the smallest number of records becomes when it grows as log n.',
  run: async ({ quick, say }) => {
    const counts = quick ? QUICK_COUNTS : COUNTS;
    const figures: Figure[] = [];
    const smallest = new Map<string, number>();
    for (const count of counts) {
      const size: Size = {
        count,
        seconds: quick ? 0.05 : 3,
        turns: quick ? 1 : 60,
        applied: quick ? 300 : 10_000,
      };
      for (const measure of [measureWorkspaces, measureApply, measureIssue]) {
        say(`${count} records: ${measure.name}`);
        const folder = await mkdtemp(join(tmpdir(), 'keelson-bench-'));
        try {
          for (const { name, microseconds } of await measure(folder, size)) {
            const first = smallest.get(name) ?? microseconds;
            smallest.set(name, first);
            const factor = Math.log(count) / Math.log(counts[0] ?? count);
            figures.push({
              name: `${name}, ${count}`,
              value: microseconds,
              unit: 'µs',
              limit: { name: 'log n', value: first * factor },
            });
          }
        } finally {
          await rm(folder, { recursive: true });
        }
      }
    }
    return figures.sort((a, b) => order(a.name) - order(b.name));
  },
};

/** By target, so that the sizes of one stand together. */
const order = (name: string): number => Number(/^P(\d+)/.exec(name)?.[1] ?? 0);
