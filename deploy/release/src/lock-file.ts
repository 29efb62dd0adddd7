/** The tested versions for a package that is not of the workspace: package-lock.json without the workspace. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { REPOSITORY } from './repository.ts';

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly link?: boolean }>>;
}

/** Runs npm for what an installation needs. Optional packages are left out: they are binaries for one platform. */
export const npm = async (folder: string, ...given: readonly string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)('npm', [...given, '--omit=dev', '--omit=optional'], {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
};

/** Adds package-lock.json to a folder with a package.json whose dependencies are some of the workspace's. */
export const lock = async (folder: string): Promise<void> => {
  const whole = JSON.parse(
    await readFile(join(REPOSITORY, 'package-lock.json'), 'utf8'),
  ) as LockFile;
  const packages = Object.fromEntries(
    Object.entries(whole.packages).filter(
      ([path, { link }]) => path.startsWith('node_modules/') && link !== true,
    ),
  );
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify({ ...whole, packages }));
  await npm(
    folder,
    'install',
    '--package-lock-only',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
  );
};
