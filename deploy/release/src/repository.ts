/** The packages of the workspace that a release is made of. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const REPOSITORY = join(import.meta.dirname, '..', '..', '..');

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly workspaces: readonly string[];
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(REPOSITORY, folder, 'package.json'), 'utf8'));

export const rootManifest = (): Manifest => manifestOf('.');

/** Packages of the workspace. */
export const workspaceManifests = (): readonly Manifest[] =>
  globSync(
    rootManifest().workspaces.map((pattern) => `${pattern}/package.json`),
    { cwd: REPOSITORY },
  ).map((file) => manifestOf(join(file, '..')));
