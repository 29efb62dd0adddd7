/** Python clients for conformance tests, unmodified from their registry. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Installs packages into a folder for PYTHONPATH.
 * @param requirements file with "name==version" lines for all packages, because dependencies are not added
 * @throws Error describing what such a test needs
 */
export const installPythonPackages = async (
  folder: string,
  requirements: string,
): Promise<void> => {
  const options = ['--quiet', '--no-input', '--disable-pip-version-check', '--target', folder];
  try {
    await run('python3', ['-m', 'pip', 'install', ...options, '--no-deps', '-r', requirements]);
  } catch (cause) {
    throw new Error(
      `${requirements} could not be installed: this test needs python3 with pip, and a package index in reach`,
      { cause },
    );
  }
};
