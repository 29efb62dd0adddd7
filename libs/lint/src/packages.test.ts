/** Each package of the workspace can be checked by itself, and turbo and tsc use the same package graph. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

interface Manifest {
  readonly name: string;
  readonly workspaces?: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));

const folders = globSync([...(manifestOf('.').workspaces ?? [])], { cwd: ROOT }).filter((folder) =>
  existsSync(join(ROOT, folder, 'package.json')),
);
const folderOf = new Map(folders.map((folder) => [manifestOf(folder).name, folder]));

/** Workspace packages that the tsconfig refers to; comments end at the end of their line. */
const referencesOf = (folder: string): readonly string[] => {
  const text = readFileSync(join(ROOT, folder, 'tsconfig.json'), 'utf8').replace(
    /^ *\/\/.*$/gm,
    '',
  );
  const { references = [] } = JSON.parse(text) as {
    readonly references?: readonly { readonly path: string }[];
  };
  return references
    .map(({ path }) => relative(ROOT, join(ROOT, folder, path)))
    .filter((path) => folders.includes(path))
    .toSorted();
};

test.for(folders)('%s has the scripts of every package', (folder) =>
  expect(Object.keys(manifestOf(folder).scripts ?? {})).toEqual(
    expect.arrayContaining(['typecheck', 'lint', 'test:unit']),
  ),
);

test.for(folders)('%s refers to the packages that it depends on', (folder) => {
  const { dependencies, devDependencies } = manifestOf(folder);
  const wanted = Object.keys({ ...dependencies, ...devDependencies })
    .flatMap((name) => folderOf.get(name) ?? [])
    .toSorted();
  expect(referencesOf(folder)).toEqual(wanted);
});
