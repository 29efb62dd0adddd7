/** The npm package `keelson`: compiled sources, the built console, and the packages that they import. */
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compile } from './compile.ts';
import { lock, npm } from './lock-file.ts';
import { REPOSITORY, rootManifest, workspaceManifests } from './repository.ts';

const run = promisify(execFile);

const DESCRIPTION =
  'Self-hosted control plane: workspaces and runs, a certificate authority, administration of secrets';

/** Versions of the imported packages, which every package of the workspace declares exactly. */
const dependenciesOf = (imported: readonly string[]): Record<string, string> => {
  const declared = new Map<string, string>();
  for (const { dependencies = {} } of workspaceManifests())
    for (const [name, version] of Object.entries(dependencies)) declared.set(name, version);
  return Object.fromEntries(
    imported.map((name) => {
      const version = declared.get(name);
      if (version === undefined) throw new Error(`${name} is imported and no dependency`);
      return [name, version];
    }),
  );
};

/** Only compilers, debuggers and the tests of packages read these. */
const SUPERFLUOUS = 'node_modules/**/*.{map,d.ts,d.mts,d.cts,test.*}';

/**
 * Installs what is imported, in the versions of package-lock.json. The package contains it, because npm heeds the
 * lock file of a package only where that comes from a registry: so every installation has what was tested, without
 * a network.
 */
const installDependencies = async (folder: string): Promise<void> => {
  await lock(folder);
  await npm(folder, 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
  for (const file of globSync(SUPERFLUOUS, { cwd: folder })) await rm(join(folder, file));
};

/** Writes the unpacked package. */
export const stagePackage = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const imported = await compile(folder);
  await run('make', ['--silent', 'console'], { cwd: REPOSITORY });
  await cp(join(REPOSITORY, 'services/console/dist'), join(folder, 'services/console/dist'), {
    recursive: true,
  });
  for (const file of ['LICENSE', 'CHANGELOG.md'])
    await cp(join(REPOSITORY, file), join(folder, file));
  await cp(join(REPOSITORY, 'deploy/release/package-readme.md'), join(folder, 'README.md'));
  const { version, license, engines } = rootManifest();
  const manifest = {
    name: 'keelson',
    version,
    description: DESCRIPTION,
    license,
    type: 'module',
    engines,
    bin: { keelson: 'services/cli/src/keelson.js' },
    dependencies: dependenciesOf(imported),
    bundleDependencies: true,
  };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await installDependencies(folder);
};

/**
 * @param staged folder of `stagePackage`
 * @param folder gets the tarball
 * @returns its file
 */
export const packPackage = async (staged: string, folder: string): Promise<string> => {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: staged,
    // It names every file.
    maxBuffer: 64 * 1024 * 1024,
  });
  const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
  return join(folder, filename);
};
