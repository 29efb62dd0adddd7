import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, BenchContext, Figure } from '../bench.ts';
import { measureApply, measureIssue, measureWorkspaces, type Size } from './growth-costs.ts';

const COUNTS = [10_000, 100_000, 1_000_000];
const QUICK_COUNTS = [300, 600];

/** What each operation costs at each number of records, in the order of the targets. */
const measureAll = async (
  counts: readonly number[],
  { quick, say }: BenchContext,
): Promise<Map<string, readonly number[]>> => {
  const costs = new Map<string, readonly number[]>();
  for (const count of counts) {
    const size: Size = {
      count,
      seconds: quick ? 0.05 : 5,
      turns: quick ? 1 : 60,
      applied: quick ? 300 : 12_000,
    };
    for (const measure of [measureIssue, measureWorkspaces, measureApply]) {
      say(`${count} records: ${measure.name}`);
      const folder = await mkdtemp(join(tmpdir(), 'keelson-bench-'));
      try {
        for (const { name, microseconds } of await measure(folder, size)) {
          costs.set(name, [...(costs.get(name) ?? []), microseconds]);
          say(`  ${name}: ${microseconds.toFixed(0)} µs`);
        }
      } finally {
        await rm(folder, { recursive: true });
      }
    }
  }
  return costs;
};

export const growth: Bench = {
  name: 'growth',
  claim:
    'P14: P1, P7, P8 and P11 at 10,000, 100,000 and 1,000,000 records grow no faster than log n',
  method:
    'Stores filled with copies of a record, each in this process; CPU of all threads for one operation, ' +
    'the median of five windows. The limit is what the cost at the smallest number of records becomes when ' +
    'it grows as log n: a ratio of at most 1 holds. --records N measures up to so many only.',
  run: async (context) => {
    const { quick, records = Number.POSITIVE_INFINITY } = context;
    const counts = quick ? QUICK_COUNTS : COUNTS.filter((count) => count <= records);
    const [smallest = 1] = counts;
    const costs = await measureAll(counts, context);
    return [...costs].flatMap(([name, [first = 0, ...more]]) =>
      [first, ...more].map((value, at): Figure => {
        const count = counts[at] ?? smallest;
        const factor = Math.log(count) / Math.log(smallest);
        return {
          name: `${name}, ${count.toLocaleString('en')}`,
          value,
          unit: 'µs',
          limit: { name: 'log n', value: first * factor },
        };
      }),
    );
  },
};
