/** Manifests decoded strictly into the types of Kubernetes, by the Go program `strict-manifests`. */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findBinary } from '@keelson/testkit';

const run = promisify(execFile);

/**
 * @returns a function that prints how many manifests a text contains, or what is wrong with them
 * @throws Error without Go
 */
export const buildStrictDecoder = async (): Promise<(text: string) => Promise<string>> => {
  const go = await findBinary('go', 'golang');
  const folder = join(import.meta.dirname, 'strict-manifests');
  const { stdout: cache } = await run(go, ['env', 'GOCACHE']);
  const programs = join(dirname(cache.trim()), 'keelson');
  await mkdir(programs, { recursive: true });
  const program = join(programs, 'strict-manifests');
  await run(go, ['build', '-o', program, '.'], { cwd: folder });
  return async (text) => {
    const decoding = run(program);
    decoding.child.stdin?.end(text);
    return decoding.then(
      ({ stdout }) => stdout,
      (failed: { stdout: string }) => failed.stdout,
    );
  };
};
