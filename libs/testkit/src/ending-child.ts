/** Child processes that end with this process, so that a test run leaves nothing running. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { recordLog } from './child-logs.ts';
import { findBinary } from './find-binary.ts';

export interface EndingChildOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** User and group of the child if this process is root. */
  readonly uid?: number;
  readonly gid?: number;
  /** File to which the child writes its log, if it does not print it. */
  readonly logFile?: string;
}

/** A child whose output is read and that has no input. */
export type EndingChild = ChildProcessByStdio<null, Readable, Readable>;

const running = new Set<EndingChild>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts a program that is killed when this process ends. On Linux the kernel does so in every case, because no
 * `exit` handler runs after a kill.
 */
export const spawnEndingWithUs = async (
  file: string,
  args: readonly string[],
  { logFile, ...options }: EndingChildOptions = {},
): Promise<EndingChild> => {
  const [program, ...given] =
    process.platform === 'linux'
      ? ([
          await findBinary('setpriv', 'util-linux'),
          '--pdeathsig',
          'KILL',
          '--',
          file,
          ...args,
        ] as const)
      : ([file, ...args] as const);
  const child = spawn(program, given, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  recordLog(child, [file, ...args].join(' '), logFile);
  child.once('close', () => running.delete(child));
  return child;
};
