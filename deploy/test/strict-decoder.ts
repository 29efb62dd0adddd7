/** Manifests decoded strictly into the types of Kubernetes, by the Go program `strict-manifests`. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildGoProgram, buildGoTool } from '@keelson/testkit';

const run = promisify(execFile);
/** A module with both, so that the packages of Kubernetes are compiled once for helm and for the decoder. */
const MODULE = join(import.meta.dirname, 'strict-manifests');

/** @returns the program */
export const buildHelm = (): Promise<string> => buildGoTool(MODULE, 'helm');

/**
 * @returns a function that prints how many manifests a text contains, or what is wrong with them
 * @throws Error without Go
 */
export const buildStrictDecoder = async (): Promise<(text: string) => Promise<string>> => {
  const program = await buildGoProgram(MODULE);
  return async (text) => {
    const decoding = run(program);
    decoding.child.stdin?.end(text);
    return decoding.then(
      ({ stdout }) => stdout,
      (failed: { stdout: string }) => failed.stdout,
    );
  };
};
