/** CPU profiles of running processes that were started with the profiler of their threads. */
import { once } from 'node:events';
import { readdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { capabilityOf, IDLE } from './capabilities.ts';
import { type CallFrame, type CpuProfile, divideTime } from './cpu-profile.ts';

const PROFILER = fileURLToPath(new URL('./thread-profiler.ts', import.meta.url));
/** Ticks of the kernel's accounting are a hundredth of a second on every Linux that Node runs on. */
const MICROSECONDS_PER_TICK = 10_000;

/** Variables of the environment of processes that are to be profiled. */
export const profilerEnvironment = (folder: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import=${PROFILER}`,
  BENCH_PROFILE_FOLDER: folder,
});

/** CPU time in microseconds. */
export interface SpentTime {
  readonly byCapability: ReadonlyMap<string, number>;
  /** Own time of each function, as "name (file)". */
  readonly byFunction: ReadonlyMap<string, number>;
}

interface ThreadTime {
  /** Name that the thread has in the system. */
  readonly name: string;
  readonly microseconds: number;
}

/** CPU time of each thread since it began, by "PID-TID". */
const threadTimes = (pids: readonly number[]): ReadonlyMap<string, ThreadTime> =>
  new Map(
    pids.flatMap((pid) =>
      readdirSync(`/proc/${pid}/task`).map((tid): [string, ThreadTime] => {
        const stat = readFileSync(`/proc/${pid}/task/${tid}/stat`, 'utf8');
        const [user, system] = stat
          .slice(stat.lastIndexOf(') ') + 2)
          .split(' ')
          .slice(11, 13);
        const microseconds = (Number(user) + Number(system)) * MICROSECONDS_PER_TICK;
        return [
          `${pid}-${tid}`,
          { name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')), microseconds },
        ];
      }),
    ),
  );

/** Threads that run no JavaScript, by the work they do. */
const NATIVE_THREADS: readonly (readonly [RegExp, string])[] = [
  [/^libuv-worker/, 'pool of threads: keys, signatures, files'],
  [/^V8Worker/, 'compilation and garbage collection beside'],
];

/** The thread by which V8 takes samples: it costs nothing without a profile. */
const PROFILING = /^v8:Prof/;

const readProfile = (folder: string, thread: string): CpuProfile =>
  JSON.parse(readFileSync(join(folder, `${thread}.cpuprofile`), 'utf8')) as CpuProfile;

/** "name (file)" of the innermost call. */
const functionOf = ([frame]: readonly CallFrame[]): string => {
  if (frame === undefined || frame.functionName === '(idle)') return IDLE;
  const { functionName, url } = frame;
  const file = url
    .replace(/^.*\/node_modules\//, '')
    .replace(/^file:.*?\/(?=libs\/|services\/|proto\/)/, '');
  return `${functionName === '' ? 'unnamed' : functionName} (${file === '' ? 'native' : file})`;
};

/** Divides the CPU time of a thread as its samples are, without those in which it waited. */
const addShares = (
  times: Map<string, number>,
  spent: number,
  sampled: ReadonlyMap<string, number>,
): void => {
  const busy = [...sampled].filter(([name]) => name !== IDLE);
  const total = busy.reduce((sum, [, time]) => sum + time, 0);
  if (spent <= 0 || total === 0) return;
  for (const [name, time] of busy) times.set(name, (times.get(name) ?? 0) + (spent * time) / total);
};

/**
 * Measures the CPU time of all threads of the processes while `work` runs. The time of a thread that runs JavaScript
 * is divided among capabilities as its samples are.
 * @param folder into which the processes write profiles
 */
export const whileProfiling = async (
  folder: string,
  pids: readonly number[],
  work: () => Promise<void>,
): Promise<SpentTime> => {
  const signal = (): void => {
    for (const pid of pids) process.kill(pid, 'SIGUSR2');
  };
  signal();
  const before = threadTimes(pids);
  await work();
  const after = threadTimes(pids);
  const watcher = watch(folder);
  signal();
  const isDone = (): boolean => pids.every((pid) => readdirSync(folder).includes(`${pid}.done`));
  while (!isDone()) await once(watcher, 'change');
  watcher.close();
  const byCapability = new Map<string, number>();
  const byFunction = new Map<string, number>();
  const profiled = new Set(readdirSync(folder));
  for (const [thread, { name, microseconds }] of after) {
    const spent = microseconds - (before.get(thread)?.microseconds ?? 0);
    if (PROFILING.test(name)) continue;
    if (profiled.has(`${thread}.cpuprofile`)) {
      const profile = readProfile(folder, thread);
      addShares(byCapability, spent, divideTime(profile, capabilityOf));
      addShares(byFunction, spent, divideTime(profile, functionOf));
    } else {
      const what = NATIVE_THREADS.find(([pattern]) => pattern.test(name))?.[1] ?? 'other threads';
      addShares(byCapability, spent, new Map([[what, 1]]));
    }
  }
  return { byCapability, byFunction };
};
