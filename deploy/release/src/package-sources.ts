import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { manifestOf, REPOSITORY, rootManifest } from './repository.ts';

/** Folders of packages of the workspace, by their names. */
const packageFolders = (): ReadonlyMap<string, string> => {
  const manifests = rootManifest().workspaces.map((pattern) => `${pattern}/package.json`);
  const folders = globSync(manifests, { cwd: REPOSITORY }).map((file) => join(file, '..'));
  return new Map(folders.map((folder) => [manifestOf(folder).name, folder]));
};

/** Parts of a package that others run with: its sources, and the code generated in `proto`. */
const PARTS = ['package.json', 'src', 'gen'];

/**
 * The sources of packages and of all that they depend on.
 * @param folders of the packages, from the root
 * @returns paths from the root
 */
export const sourcesOf = (...folders: readonly string[]): readonly string[] => {
  const folderOf = packageFolders();
  const reached = new Set(folders);
  // A set that grows is walked to its end.
  for (const folder of reached)
    for (const name of Object.keys(manifestOf(folder).dependencies ?? {})) {
      const dependency = folderOf.get(name);
      if (dependency !== undefined) reached.add(dependency);
    }
  return [...reached]
    .flatMap((folder) => PARTS.map((part) => `${folder}/${part}`))
    .filter((path) => existsSync(join(REPOSITORY, path)))
    .toSorted();
};
