/** Manifests decoded strictly into the types of Kubernetes, by the Go program `strict-manifests`. */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildGoTool, findBinary, goEnvironment } from '@keelson/testkit';

const run = promisify(execFile);
/** A module with both, so that the packages of Kubernetes are compiled once for helm and for the decoder. */
const MODULE = join(import.meta.dirname, 'strict-manifests');

/** @returns the program; undefined without Go */
export const buildHelm = (): Promise<string | undefined> => buildGoTool(MODULE, 'helm');

/**
 * @returns a function that prints how many manifests a text contains, or what is wrong with them
 * @throws Error without Go
 */
export const buildStrictDecoder = async (): Promise<(text: string) => Promise<string>> => {
  const go = await findBinary('go', 'golang');
  const { stdout: cache } = await run(go, ['env', 'GOCACHE']);
  const programs = join(dirname(cache.trim()), 'keelson');
  await mkdir(programs, { recursive: true });
  const program = join(programs, 'strict-manifests');
  await run(go, ['build', '-o', program, '.'], { cwd: MODULE, env: goEnvironment() });
  return async (text) => {
    const decoding = run(program);
    decoding.child.stdin?.end(text);
    return decoding.then(
      ({ stdout }) => stdout,
      (failed: { stdout: string }) => failed.stdout,
    );
  };
};
