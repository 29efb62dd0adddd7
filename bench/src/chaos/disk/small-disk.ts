/** A separate file system for a data folder: small, and read-only on request. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { diskDirectory } from '@keelson/testkit';

const run = promisify(execFile);

export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  /** False without the permission to mount: an ordinary folder, whose options cannot be changed. */
  readonly isSmall: boolean;
  /** Changes mount options; the content is kept. */
  change(options: string): Promise<void>;
}

/** @param megabytes initial size */
export const mountSmallDisk = async (megabytes: number): Promise<SmallDisk> => {
  const folder = await diskDirectory();
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
      // Not a lazy unmount: a process that still holds a file is a bug of the trial.
      if (isSmall) await run('umount', [path]);
      await folder[Symbol.asyncDispose]();
    },
  };
};
