/** The Debian package: the files of the npm package with Node itself, a systemd unit and its settings. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { REPOSITORY, rootManifest } from './repository.ts';

const run = promisify(execFile);
const SOURCES = join(REPOSITORY, 'deploy/release/debian');

/** Names of Debian for the machines that Node is built for. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

const PROGRAMS = ['usr/bin/keelson', 'usr/lib/keelson/bin/node'];
const SCRIPTS = ['postinst', 'prerm', 'postrm'];
const SETTINGS = 'etc/keelson/keelson.env';
const ROTATION = 'etc/logrotate.d/keelson';
/** Files that an administrator may change, and that an upgrade therefore keeps. */
const KEPT: readonly string[] = [SETTINGS, ROTATION];

/** Where the sources of this folder are installed. */
const INSTALLED: Readonly<Record<string, string>> = {
  keelson: 'usr/bin/keelson',
  'keelson.1': 'usr/share/man/man1/keelson.1',
  'keelson.env': SETTINGS,
  'keelson.logrotate': ROTATION,
  'keelson.service': 'usr/lib/systemd/system/keelson.service',
};

/** Where shells look for completions of commands from packages. */
const COMPLETIONS = {
  bash: 'usr/share/bash-completion/completions/keelson',
  zsh: 'usr/share/zsh/vendor-completions/_keelson',
  fish: 'usr/share/fish/vendor_completions.d/keelson.fish',
} as const;

/**
 * @param environment `DEBFULLNAME` and `DEBEMAIL`, as Debian's tools read them; a package for one's own machines
 *   needs no address
 */
export const maintainerFrom = ({
  DEBFULLNAME = 'The Keelson authors',
  DEBEMAIL = 'keelson@localhost',
}: Readonly<Record<string, string | undefined>>): string => `${DEBFULLNAME} <${DEBEMAIL}>`;

interface InstalledFile {
  readonly path: string;
  readonly content: Buffer;
}

const filesIn = async (root: string): Promise<readonly InstalledFile[]> => {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .toSorted();
  const files: InstalledFile[] = [];
  for (const path of paths) files.push({ path, content: await readFile(join(root, path)) });
  return files;
};

const controlOf = (architecture: string, bytes: number, maintainer: string): string =>
  [
    'Package: keelson',
    `Version: ${rootManifest().version}`,
    `Architecture: ${architecture}`,
    `Maintainer: ${maintainer}`,
    `Installed-Size: ${Math.ceil(bytes / 1024)}`,
    'Depends: ca-certificates, libc6 (>= 2.28), libstdc++6, passwd',
    'Recommends: git, systemd',
    'Section: admin',
    'Priority: optional',
    'Description: control plane for workspaces, certificates and secrets',
    ' One address for workspaces and runs of terraform, a certificate authority with',
    ' ACME and EST, and the administration of secrets. Standalone, on SQLite.',
    '',
  ].join('\n');

/** The completions call the command by its name, so they hold wherever it is. */
const writeCompletions = async (program: string, work: string): Promise<void> => {
  for (const [shell, target] of Object.entries(COMPLETIONS)) {
    const cli = join(program, 'services/cli/src/main.js');
    const { stdout } = await run(process.execPath, [cli, 'completion', shell]);
    await mkdir(dirname(join(work, target)), { recursive: true });
    await writeFile(join(work, target), stdout);
  }
};

/**
 * @param staged folder of `stagePackage`
 * @param work an empty folder for the files of the package
 * @param folder gets the package
 * @param time seconds since 1970, of every file
 * @param maintainer name and address
 * @returns the package
 */
export const packDebian = async (
  staged: string,
  work: string,
  folder: string,
  time: number,
  maintainer: string,
): Promise<string> => {
  const architecture = ARCHITECTURES[process.arch];
  if (architecture === undefined) throw new Error(`There is no Debian name for ${process.arch}.`);
  const program = join(work, 'usr/lib/keelson');
  // Otherwise relative links would become paths of this machine.
  await cp(staged, program, { recursive: true, verbatimSymlinks: true });
  await cp(join(REPOSITORY, 'node_modules/node/bin/node'), join(program, 'bin/node'));
  for (const [source, target] of Object.entries(INSTALLED))
    await cp(join(SOURCES, source), join(work, target));
  await writeCompletions(program, work);
  const documents = join(work, 'usr/share/doc/keelson');
  await cp(join(REPOSITORY, 'LICENSE'), join(documents, 'copyright'));
  await cp(join(staged, 'README.md'), join(documents, 'README.md'));

  const files = await filesIn(work);
  const control = join(work, 'DEBIAN');
  await mkdir(control);
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
  await writeFile(join(control, 'control'), controlOf(architecture, bytes, maintainer));
  await writeFile(join(control, 'conffiles'), KEPT.map((path) => `/${path}\n`).join(''));
  const sums = files
    .filter(({ path }) => !KEPT.includes(path))
    .map(({ path, content }) => `${createHash('md5').update(content).digest('hex')}  ${path}\n`);
  await writeFile(join(control, 'md5sums'), sums.join(''));
  for (const script of SCRIPTS) await cp(join(SOURCES, script), join(control, script));

  await run('chmod', ['--recursive', 'u=rwX,go=rX', work]);
  await run('find', [work, '-type', 'f', '-exec', 'chmod', '0644', '{}', '+']);
  const executable = [...PROGRAMS, ...SCRIPTS.map((script) => `DEBIAN/${script}`)];
  await run('chmod', ['0755', ...executable], { cwd: work });
  await run('chmod', ['0640', SETTINGS], { cwd: work });
  const file = join(folder, `keelson_${rootManifest().version}_${architecture}.deb`);
  await run('dpkg-deb', ['--root-owner-group', '-Zgzip', '--build', work, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(time) },
  });
  return file;
};
