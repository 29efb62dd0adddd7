import { execFile } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findBinary } from './find-binary.ts';

/** Without C, and the same for all modules, which therefore share the compiled packages in Go's cache. */
export const goEnvironment = (): NodeJS.ProcessEnv => ({ ...process.env, CGO_ENABLED: '0' });

/**
 * Builds a program that the Go module in a folder declares as a tool, in the version pinned by go.mod.
 * The first build takes minutes; later ones use Go's cache.
 * @param name of the tool
 * @returns undefined if Go is missing, which is reported on standard error
 */
export const buildGoTool = async (
  folder: string,
  name = basename(folder),
): Promise<string | undefined> => {
  const go = await findBinary('go', 'golang').catch(() => undefined);
  if (go === undefined) {
    process.stderr.write(`\n*** NOT TESTED: go is not in PATH, ${name} does not run\n\n`);
    return undefined;
  }
  const { stdout } = await promisify(execFile)(go, ['tool', '-n', name], {
    cwd: folder,
    env: goEnvironment(),
  });
  return stdout.trim();
};

/**
 * Builds a program of a Go module with build tags, which `go tool` does not support. The first
 * build takes minutes; the program is then kept next to Go's cache.
 * @param folder of the module whose go.mod pins the program
 * @param path import path of the program
 * @returns undefined if Go is missing, which is reported on standard error
 */
export const buildTaggedGoProgram = async (
  folder: string,
  path: string,
  tags: readonly string[],
): Promise<string | undefined> => {
  const name = basename(path);
  const go = await findBinary('go', 'golang').catch(() => undefined);
  if (go === undefined) {
    process.stderr.write(`\n*** NOT TESTED: go is not in PATH, ${name} does not run\n\n`);
    return undefined;
  }
  const run = promisify(execFile);
  const { stdout: cache } = await run(go, ['env', 'GOCACHE']);
  const binary = join(dirname(cache.trim()), 'keelson', name);
  // It is linked again only if its sources have changed.
  await run(go, ['build', '-tags', tags.join(' '), '-o', binary, path], { cwd: folder });
  return binary;
};
