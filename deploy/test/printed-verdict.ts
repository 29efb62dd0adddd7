import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { REPOSITORY } from './images.ts';

/** The lines that a command of `.ci/test-counts.mjs` prints about reports of tests. */
export const printedVerdict = (
  command: string,
  ...reports: readonly string[]
): readonly string[] => {
  const program = join(REPOSITORY, '.ci/test-counts.mjs');
  const printed = execFileSync(process.execPath, [program, command, ...reports], {
    cwd: REPOSITORY,
    encoding: 'utf8',
  });
  return printed.split('\n').slice(0, -1);
};
