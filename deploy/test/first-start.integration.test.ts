/** `make up` in a fresh clone: what it installs and says, and that the control plane then serves its pages. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startKeelson, temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { REPOSITORY } from './images.ts';

const run = promisify(execFile);

/** The files that a commit of the current tree would have. */
const cloneTo = (folder: string): Promise<unknown> =>
  run(
    'sh',
    [
      '-c',
      'git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$0"',
      folder,
    ],
    { cwd: REPOSITORY },
  );

const FOR_DEVELOPMENT = [
  'vitest',
  'typescript',
  'oxlint',
  'turbo',
  'testcontainers',
  'playwright-core',
  'autocannon',
  'acme-client',
];

const STEPS = [
  'Installing the npm packages that Keelson runs with.',
  'Building the web console.',
  'Starting Keelson.',
];

const stepsIn = (output: string): readonly string[] =>
  output.split('\n').filter((line) => STEPS.includes(line));

test('make up installs what running needs, says what it does, and serves the console', async () => {
  await using clone = await temporaryDirectory();
  await using data = await temporaryDirectory();
  await cloneTo(clone.path);
  const options = {
    dataFolder: data.path,
    command: ['make', 'up'],
    folder: clone.path,
  } as const;

  const keelson = await startKeelson(options);
  expect(stepsIn(keelson.output())).toEqual(STEPS);
  const page = await fetch(`${keelson.http}/ui/`);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')]);
  await keelson.stop('SIGTERM');
  const modules = join(clone.path, 'node_modules');
  expect(FOR_DEVELOPMENT.filter((name) => existsSync(join(modules, name)))).toEqual([]);

  const again = await startKeelson(options);
  expect(stepsIn(again.output())).toEqual(['Starting Keelson.']);
  await again.stop('SIGTERM');
});
