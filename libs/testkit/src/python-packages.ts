/** Python clients for conformance tests, unmodified from their registry. */
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { keptFolder } from './kept-folder.ts';

const run = promisify(execFile);

/**
 * Installs packages, once for all runs of tests on this machine.
 * @param requirements file with "name==version" lines for all packages, because dependencies are not added
 * @returns their folder for PYTHONPATH
 * @throws Error describing what such a test needs
 */
export const installPythonPackages = async (requirements: string): Promise<string> => {
  const { stdout: version } = await run('python3', ['--version']);
  const digest = hash('sha256', version + (await readFile(requirements, 'utf8')));
  const kept = await keptFolder();
  const folder = join(kept, `python-${digest.slice(0, 32)}`);
  if (existsSync(folder)) return folder;
  const partial = await mkdtemp(join(kept, 'python-partial-'));
  const options = ['--quiet', '--no-input', '--disable-pip-version-check', '--target', partial];
  try {
    await run('python3', ['-m', 'pip', 'install', ...options, '--no-deps', '-r', requirements]);
  } catch (cause) {
    await rm(partial, { recursive: true });
    throw new Error(
      `${requirements} could not be installed: this test needs python3 with pip, and a package index in reach`,
      { cause },
    );
  }
  try {
    await rename(partial, folder);
  } catch (error) {
    // Another test was faster.
    await rm(partial, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
};
