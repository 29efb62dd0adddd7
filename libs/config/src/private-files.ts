/** Files that contain secrets: a start is refused while every user of the machine can read or change them. */
import { statSync } from 'node:fs';

const OTHERS = 0o007;

/**
 * A sentence when the file is not private; undefined for one that is, or that cannot be examined: whoever reads it
 * says why. Its group may read it, because Kubernetes and systems with a group for keys grant access that way.
 */
const problemOf = (file: string): string | undefined => {
  let mode: number | undefined;
  try {
    mode = statSync(file, { throwIfNoEntry: false })?.mode;
  } catch {
    return undefined;
  }
  if (mode === undefined || (mode & OTHERS) === 0) return undefined;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  return `${file} contains secrets, and its mode ${shown} lets every user of this machine read or change it: chmod o= ${file}`;
};

/** @param files by the setting that names them */
export const exposedFiles = (files: ReadonlyMap<string, string>): readonly string[] =>
  [...files].flatMap(([setting, file]) => {
    const problem = problemOf(file);
    return problem === undefined ? [] : [`${setting}: ${problem}`];
  });
