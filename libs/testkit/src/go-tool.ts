import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { findBinary } from './find-binary.ts';

/**
 * The program that the Go module of a folder names as its tool, in the version that its go.mod pins. Built
 * the first time, which takes minutes, and kept in Go's cache.
 * @param folder its name is the tool's
 * @returns undefined where Go is missing, which is then said on standard error
 */
export const buildGoTool = async (folder: string): Promise<string | undefined> => {
  const go = await findBinary('go', 'golang').catch(() => undefined);
  if (go === undefined) {
    process.stderr.write(
      `\n*** NOT TESTED: go is not in PATH, ${basename(folder)} does not run\n\n`,
    );
    return undefined;
  }
  const { stdout } = await promisify(execFile)(go, ['tool', '-n', basename(folder)], {
    cwd: folder,
    env: { ...process.env, CGO_ENABLED: '0' },
  });
  return stdout.trim();
};
