/** The executor process of a phase, seen from the runner. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { guarded } from '@keelson/errors';
import type { Task } from '../executor/task.ts';
import { endProcessesOf } from '../owners/end-processes.ts';
import type { Owner } from '../owners/owners.ts';
import { endGroup } from './slot-folder.ts';

/** The program, also for the check whether a user can execute it. */
export const EXECUTOR = fileURLToPath(new URL('../executor/executor.ts', import.meta.url));

/** Longest line of an executor that is logged; a longer one would come from its tool. */
const MAX_LINE_LENGTH = 2000;

export interface ExecutorProcess {
  readonly pid: number | undefined;
  /** Ends the phase as errored: the tool is interrupted, and its results so far are stored. */
  stop(): void;
  /** Ends it at once. */
  kill(): void;
  /**
   * Resolves when its user has no process left, with the reason of a failure; undefined if the phase was reported.
   */
  readonly ended: Promise<string | undefined>;
}

const explain = (code: number | null, signal: NodeJS.Signals | null): string | undefined => {
  if (code === 0) return undefined;
  return code === null ? `signal ${signal}` : `code ${code}`;
};

export const startExecutor = (
  task: Task,
  owner: Owner,
  say: (text: string) => void,
): ExecutorProcess => {
  // The code of the run has the same user, and would open the debugger of a process that holds its secrets.
  const child: ChildProcess = spawn(process.execPath, ['--disable-sigusr1', EXECUTOR], {
    ...owner,
    cwd: task.folder,
    env: { PATH: task.environment['PATH'], HOME: task.environment['HOME'] },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A separate process group, so that signals of the terminal to the runner do not reach it.
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr])
    if (stream !== null)
      createInterface({ input: stream }).on(
        'line',
        guarded('runner/slots', (line) => say(line.slice(0, MAX_LINE_LENGTH))),
      );
  // The process may end before it reads its input.
  child.stdin?.on('error', () => undefined);
  child.stdin?.write(`${JSON.stringify(task)}\n`);
  const finished = async (): Promise<string | undefined> => {
    try {
      const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
      return explain(code, signal);
    } catch (error) {
      return String(error);
    } finally {
      if (child.pid !== undefined) endGroup(child.pid);
      await endProcessesOf(owner, say);
    }
  };
  return {
    pid: child.pid,
    stop: () => child.stdin?.end(),
    kill: () => {
      if (child.pid !== undefined) endGroup(child.pid);
    },
    ended: finished(),
  };
};
