/** A separate process for each side of a measurement, so that neither occupies the other's event loop. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** CPU time and memory of a process since it started. */
export interface Usage {
  readonly cpuMicroseconds: number;
  readonly peakMemoryMegabytes: number;
}

export interface BenchProcess {
  readonly pid: number;
  /** Sends a command and waits for its result. */
  ask<T>(command: string, argument?: unknown): Promise<T>;
  usage(): Usage;
  stop(): Promise<void>;
}

interface Command {
  readonly id: number;
  readonly command: string;
  readonly argument: unknown;
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** Ticks per second of the kernel's process accounting; 100 on every Linux that Node runs on. */
const CLOCK_TICKS_PER_SECOND = 100;

/** From /proc, because the measured process need not cooperate. */
export const processUsage = (pid: number): Usage => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name before ") " may hold spaces; utime and stime are fields 14 and 15 of proc(5).
  const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return {
    cpuMicroseconds: (ticks / CLOCK_TICKS_PER_SECOND) * 1e6,
    peakMemoryMegabytes: Number(peak) / 1024,
  };
};

/** CPU time of a process, or 0 if it has ended. */
const cpuWhileRunning = (pid: number): number => {
  try {
    return processUsage(pid).cpuMicroseconds;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return 0;
    throw error;
  }
};

/** CPU time of a server and its child processes, those included that have ended. */
export const treeCpuMicroseconds = (pid: number): number => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const ofChildren = children
    .split(' ')
    .filter((child) => child !== '')
    .reduce((sum, child) => sum + cpuWhileRunning(Number(child)), 0);
  // Read last: the time of a child that has ended meanwhile is here. Fields 16 and 17 are cutime and cstime.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [ended = 0, endedInKernel = 0] = stat
    .slice(stat.lastIndexOf(') ') + 2)
    .split(' ')
    .slice(13, 15)
    .map(Number);
  const ofEnded = ((ended + endedInKernel) / CLOCK_TICKS_PER_SECOND) * 1e6;
  return ofChildren + processUsage(pid).cpuMicroseconds + ofEnded;
};

/** Runs a module that answers commands (see `answerCommands`). */
export const startProcess = async (module: URL): Promise<BenchProcess> => {
  const child: ChildProcess = fork(module, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  await once(child, 'message');
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  child.on('message', ({ id, result, error }: Answer) => {
    if (error === undefined) waiting.get(id)?.resolve(result);
    else waiting.get(id)?.reject(new Error(error));
    waiting.delete(id);
  });
  const exited = once(child, 'exit').then(() => {
    for (const one of waiting.values()) one.reject(new Error(`${module.pathname} ended`));
  });
  const pid = child.pid as number;
  let lastId = 0;
  return {
    pid,
    ask: <T>(command: string, argument?: unknown) => {
      const id = ++lastId;
      const answer = Promise.withResolvers<unknown>();
      waiting.set(id, answer);
      child.send({ id, command, argument } satisfies Command);
      return answer.promise as Promise<T>;
    },
    usage: () => processUsage(pid),
    stop: async () => {
      child.kill();
      await exited;
    },
  };
};

/** The other end, in the module that `startProcess` runs. */
export const answerCommands = (
  // oxlint-disable-next-line typescript/no-explicit-any -- the argument is whatever `ask` was given
  commands: Readonly<Record<string, (argument: any) => unknown>>,
): void => {
  const answer = async ({ id, command, argument }: Command): Promise<void> => {
    try {
      process.send?.({ id, result: await commands[command]?.(argument) } satisfies Answer);
    } catch (error) {
      process.send?.({ id, error: String(error) } satisfies Answer);
    }
  };
  process.on('message', (message) => void answer(message as Command));
  process.send?.({ id: 0 } satisfies Answer);
};
