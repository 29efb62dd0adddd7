/** Builds the console before the tests, if a source is newer than what was built. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const setup = async (): Promise<void> => {
  const root = join(import.meta.dirname, '..', '..', '..');
  await promisify(execFile)('make', ['--silent', 'console'], { cwd: root });
};
