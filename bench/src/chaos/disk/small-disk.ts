/** A file system of its own for a data folder: small, and read-only when asked. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@keelson/testkit';

const run = promisify(execFile);

export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  /** False without the right to mount: an ordinary folder, which nothing can be changed of. */
  readonly isSmall: boolean;
  /** Keeps what is on it. */
  change(options: string): Promise<void>;
}

/** @param megabytes size, to begin with */
export const mountSmallDisk = async (megabytes: number): Promise<SmallDisk> => {
  const folder = await temporaryDirectory();
  const { path } = folder;
  const isSmall = await run('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=${megabytes}m`,
    'tmpfs',
    path,
  ]).then(
    () => true,
    () => false,
  );
  return {
    path,
    isSmall,
    change: async (options) => {
      await run('mount', ['-o', `remount,${options}`, path]);
    },
    async [Symbol.asyncDispose]() {
      // Not lazily: a process that still holds a file is a mistake of the trial.
      if (isSmall) await run('umount', [path]);
      await folder[Symbol.asyncDispose]();
    },
  };
};
