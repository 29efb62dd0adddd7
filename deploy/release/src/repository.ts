/** The packages of the workspace that a release is made of. */
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const REPOSITORY = join(import.meta.dirname, '..', '..', '..');

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly workspaces: readonly string[];
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** @param folder of a package, from the root */
export const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(REPOSITORY, folder, 'package.json'), 'utf8'));

export const rootManifest = (): Manifest => manifestOf('.');

/** Packages of the workspace. */
export const workspaceManifests = (): readonly Manifest[] =>
  globSync(
    rootManifest().workspaces.map((pattern) => `${pattern}/package.json`),
    { cwd: REPOSITORY },
  ).map((file) => manifestOf(join(file, '..')));

/** Seconds since 1970: when the commit was made, or `SOURCE_DATE_EPOCH`. It is the only time in a release. */
export const releaseTime = async (given: string | undefined): Promise<number> => {
  if (given !== undefined) return Number(given);
  const { stdout } = await promisify(execFile)('git', ['log', '-1', '--format=%ct'], {
    cwd: REPOSITORY,
  });
  return Number(stdout);
};
