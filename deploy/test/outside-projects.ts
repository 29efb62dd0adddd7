/** Projects of others that test against a container: the package @keelson/testcontainers, and the plain image in other languages. */
import { execFile } from 'node:child_process';
import { copyFile, cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { findBinary, installPythonPackages, temporaryDirectory } from '@keelson/testkit';
import { REPOSITORY, type TestImages } from './images.ts';

const run = promisify(execFile);
const PACKAGE = join(REPOSITORY, 'libs/testcontainers');
const EXAMPLES = join(PACKAGE, 'examples');

/**
 * Installs the built package as an outside project does, and runs a block of its README.
 * @param number of the block, from 0
 * @param checks lines that go before the last one of the block, which stops what it started
 * @returns what they print
 */
export const runReadmeBlock = async (
  number: number,
  checks: string,
  { keelson, environment }: TestImages,
): Promise<string> => {
  await using project = await temporaryDirectory();
  const modules = join(project.path, 'node_modules');
  const installed = join(modules, '@keelson/testcontainers');
  await run('npx', ['tsc', '-p', PACKAGE, '--outDir', join(installed, 'dist')], {
    cwd: REPOSITORY,
  });
  await copyFile(join(PACKAGE, 'package.json'), join(installed, 'package.json'));
  const dependency = 'node_modules/testcontainers';
  await symlink(join(REPOSITORY, dependency), join(project.path, dependency));

  const readme = await readFile(join(PACKAGE, 'README.md'), 'utf8');
  const blocks = Array.from(readme.matchAll(/```ts\n([\s\S]*?)```/g), ([, block = '']) => block);
  const lines = (blocks[number] ?? '').trimEnd().split('\n');
  const stop = lines.pop() ?? '';
  if (!stop.includes('.stop()')) throw new Error(`block ${number} of the README does not stop`);
  const suite = join(project.path, 'suite.mjs');
  const text = [...lines, checks, stop]
    .join('\n')
    .replaceAll('keelson:dev', keelson)
    .replaceAll('nats:2', environment['NATS_IMAGE'] ?? '')
    .replaceAll('redis:8', environment['REDIS_IMAGE'] ?? '')
    .replaceAll('postgres:17', environment['POSTGRES_IMAGE'] ?? '');
  await writeFile(suite, text);
  const { stdout } = await run(process.execPath, [suite], { cwd: project.path });
  return stdout;
};

type Language = 'go' | 'java' | 'python';

const PROGRAMS: Readonly<Record<Language, readonly [program: string, debianPackage: string]>> = {
  go: ['go', 'golang'],
  java: ['mvn', 'maven'],
  python: ['python3', 'python3'],
};

/**
 * Compiles and runs the example of a language.
 * @returns what it prints
 */
export const runExample = async (language: Language, image: string): Promise<string> => {
  const [name, debianPackage] = PROGRAMS[language];
  const program = await findBinary(name, debianPackage);
  // Builds leave files behind.
  await using folder = await temporaryDirectory();
  await cp(join(EXAMPLES, language), folder.path, { recursive: true });
  const packages =
    language === 'python'
      ? await installPythonPackages(join(folder.path, 'requirements.txt'))
      : undefined;
  const commands: Readonly<Record<Language, readonly string[]>> = {
    go: ['run', '.', image],
    java: ['-q', '-B', 'compile', 'exec:java', `-Dexec.args=${image}`],
    python: ['example.py', image],
  };
  const { stdout } = await run(program, commands[language], {
    cwd: folder.path,
    // Without its helper images, which cannot be pulled everywhere. The ports of the engine are on this machine, also
    // when the suite itself runs in a container, where the libraries would look at the default gateway.
    env: {
      ...process.env,
      ...(packages !== undefined && { PYTHONPATH: packages }),
      TESTCONTAINERS_HOST_OVERRIDE: 'localhost',
      TESTCONTAINERS_RYUK_DISABLED: 'true',
      TESTCONTAINERS_CHECKS_DISABLE: 'true',
    },
  });
  // Maven resets the colours of a terminal also where there is none.
  return stripVTControlCharacters(stdout);
};
