import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, BenchContext, Figure } from '../bench.ts';
import { median } from '../median.ts';
import {
  type Filled,
  fillAuthority,
  fillCopy,
  fillWorkspaces,
  type Size,
  WINDOWS,
} from './growth-costs.ts';

const COUNTS = [10_000, 100_000, 1_000_000];
const QUICK_COUNTS = [300, 600];

/**
 * The median of each cost at each number of records. The windows of the stores alternate, so that slow and
 * fast minutes of the machine affect all of them.
 */
const measureInTurn = async (
  stores: readonly Filled[],
  costs: Map<string, readonly number[]>,
): Promise<void> => {
  for (const [at, { name }] of (stores[0]?.costs ?? []).entries()) {
    const measured: number[][] = stores.map(() => []);
    for (let window = 0; window <= WINDOWS; window += 1)
      for (const [index, store] of stores.entries()) {
        const microseconds = await store.costs[at]?.measure();
        if (window > 0 && microseconds !== undefined) measured[index]?.push(microseconds);
      }
    costs.set(name, measured.map(median));
  }
};

/** Cost of each operation at each number of records, in the order of the targets. */
const measureAll = async (
  counts: readonly number[],
  { quick, say }: BenchContext,
): Promise<ReadonlyMap<string, readonly number[]>> => {
  const costs = new Map<string, readonly number[]>();
  for (const fill of [fillAuthority, fillWorkspaces, fillCopy]) {
    await using ending = new AsyncDisposableStack();
    const stores: Filled[] = [];
    for (const count of counts) {
      say(`${fill.name}: ${count} records`);
      const folder = await mkdtemp(join(tmpdir(), 'keelson-bench-'));
      ending.defer(() => rm(folder, { recursive: true }));
      const size: Size = {
        count,
        seconds: quick ? 0.05 : 5,
        turns: quick ? 1 : 60,
        applied: quick ? 50 : 2000,
      };
      const store = await fill(folder, size);
      ending.defer(() => store.close());
      stores.push(store);
    }
    say('measuring');
    await measureInTurn(stores, costs);
  }
  return costs;
};

export const growth: Bench = {
  name: 'growth',
  claim:
    'P14: P1, P7 and P11 grow at most 1.3 times as fast as log n from 10,000 to 1,000,000 records',
  method:
    'Stores filled with copies of a record, all in this process; CPU of all threads for one operation, ' +
    'the median of eleven windows, those of the stores in turn. The limit is what the cost at the smallest ' +
    'number of records becomes when it grows as log n: a ratio of at most 1 holds. --records N measures up ' +
    'to so many only.',
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
