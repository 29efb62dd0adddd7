/** Divides the CPU time of one operation among the capabilities that it passes through. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runSources, temporaryDirectory } from '@keelson/testkit';
import type { BenchContext } from '../bench.ts';
import { profilerEnvironment, whileProfiling } from './profiled-processes.ts';
import type { OpenWork, ProfiledWork } from './profiled-works.ts';

/** CPU time of one operation. */
export interface OperationCost {
  readonly connections: number;
  readonly perSecond: number;
  /** Microseconds by capability. */
  readonly capabilities: ReadonlyMap<string, number>;
  /** Own microseconds of each function. */
  readonly functions: ReadonlyMap<string, number>;
}

/** Measures an operation after a quarter of the time, in which its code is compiled. */
const profileOnce = async (
  work: ProfiledWork,
  connections: number,
  { folder, seconds }: { readonly folder: string; readonly seconds: number },
): Promise<OperationCost> => {
  const perform = await work.prepare(connections);
  await perform(seconds / 4);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  let performed = { perSecond: 0, total: 1 };
  const before = work.others();
  const { byCapability, byFunction } = await whileProfiling(folder, work.pids, async () => {
    performed = await perform(seconds);
  });
  const spent = Array.from(work.others(), ([name, after]): [string, number] => [
    name,
    after - (before.get(name) ?? 0),
  ]);
  const perOperation = (times: Iterable<readonly [string, number]>): ReadonlyMap<string, number> =>
    new Map(Array.from(times, ([what, time]) => [what, time / performed.total]));
  return {
    connections,
    perSecond: performed.perSecond,
    capabilities: perOperation([...byCapability, ...spent]),
    functions: perOperation(byFunction),
  };
};

/** One operation from several numbers of connections. */
export const profileWork = async (
  context: BenchContext,
  open: OpenWork,
  connections: readonly number[],
): Promise<readonly OperationCost[]> => {
  const seconds = context.quick ? 0.3 : 8;
  await using directory = await temporaryDirectory();
  using _sources = runSources();
  const folder = join(directory.path, 'profiles');
  const environment = profilerEnvironment(folder);
  const before = Object.keys(environment).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, environment);
  try {
    await using work = await open(context);
    const costs: OperationCost[] = [];
    for (const count of connections) {
      context.say(`${count} connections`);
      costs.push(await profileOnce(work, count, { folder, seconds }));
    }
    return costs;
  } finally {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  }
};
