import { execFile } from 'node:child_process';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { findBinary } from './find-binary.ts';
import { keptFolder } from './kept-folder.ts';

const run = promisify(execFile);

/** Without C, and the same for all modules, which therefore share the compiled packages in Go's cache. */
export const goEnvironment = (): NodeJS.ProcessEnv => ({ ...process.env, CGO_ENABLED: '0' });

/**
 * Runs Go in the folder of a module, while nobody else builds of the same name: two builds at once would compile
 * everything twice.
 * @param name of the program, or of the folder
 */
export const runGoAlone = async (
  name: string,
  folder: string,
  env: NodeJS.ProcessEnv,
  ...args: readonly string[]
): Promise<{ readonly stdout: string; readonly stderr: string }> => {
  const flock = await findBinary('flock', 'util-linux');
  const lock = join(await keptFolder(), `${name}.lock`);
  return run(flock, [lock, await findBinary('go', 'golang'), ...args], { cwd: folder, env });
};

/**
 * Builds a program that the Go module in a folder declares as a tool, in the version pinned by go.mod.
 * The first build takes minutes; later ones use Go's cache.
 * @param name of the tool
 */
export const buildGoTool = async (folder: string, name = basename(folder)): Promise<string> =>
  (await runGoAlone(name, folder, goEnvironment(), 'tool', '-n', name)).stdout.trim();

/** Builds the program of the Go module in a folder, and keeps it for later runs. */
export const buildGoProgram = async (folder: string): Promise<string> => {
  const name = basename(folder);
  const program = join(await keptFolder(), name);
  await runGoAlone(name, folder, goEnvironment(), 'build', '-o', program, '.');
  return program;
};

export interface GoTests {
  readonly program: string;
  /** Folder of the package, in which its tests expect to run. */
  readonly folder: string;
}

/**
 * Builds the tests of a package on which the Go module in a folder depends, and keeps them for later runs.
 * @param path import path of the package
 */
export const buildGoTests = async (folder: string, path: string): Promise<GoTests> => {
  const name = `${basename(path)}.test`;
  const program = join(await keptFolder(), name);
  const env = goEnvironment();
  await runGoAlone(name, folder, env, 'test', '-c', '-o', program, path);
  const { stdout } = await runGoAlone(name, folder, env, 'list', '-f', '{{.Dir}}', path);
  return { program, folder: stdout.trim() };
};

/**
 * Builds a program of a Go module with build tags, which `go tool` does not support. The first
 * build takes minutes; the program is then kept.
 * @param folder of the module whose go.mod pins the program
 * @param path import path of the program
 * @param env with the C compiler unless `CGO_ENABLED` is 0
 */
export const buildTaggedGoProgram = async (
  folder: string,
  path: string,
  tags: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> => {
  const name = basename(path);
  const program = join(await keptFolder(), name);
  // It is linked again only if its sources have changed.
  const args = ['build', '-tags', tags.join(' '), '-o', program, path];
  await runGoAlone(name, folder, env, ...args);
  return program;
};
