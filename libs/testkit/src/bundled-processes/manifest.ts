/** From which sources something was made, so that it is made again only after one has changed. */
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Manifest {
  /** Path of the result. */
  readonly made: string;
  /** The states of the sources, as `statesOf` returns them. */
  readonly states: readonly string[];
}

/** Each file, below the root, with the time of its last change and its size, which are 0 if it does not exist. */
export const statesOf = (root: string, files: readonly string[]): readonly string[] =>
  files.map((file) => {
    const stat = statSync(join(root, file), { throwIfNoEntry: false });
    return [stat?.mtimeMs ?? 0, stat?.size ?? 0, file].join(' ');
  });

export const writeManifest = (path: string, { made, states }: Manifest): void => {
  writeFileSync(`${path}.new`, [made, ...states].join('\n'));
  renameSync(`${path}.new`, path);
};

/** @returns path of the result, if it exists and all sources are as they were */
export const findMade = (root: string, path: string): string | undefined => {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const [made = '', ...states] = readFileSync(path, 'utf8').split('\n');
  const files = states.map((state) => state.split(' ').slice(2).join(' '));
  const isSame = statesOf(root, files).every((state, index) => state === states[index]);
  return isSame && statSync(made, { throwIfNoEntry: false }) !== undefined ? made : undefined;
};
