/**
 * All files of a release, and what is installed from them: a release is made once for all of these tests, and once
 * more to compare both.
 *
 * | what                  | expected                                                                     |
 * | --------------------- | ---------------------------------------------------------------------------- |
 * | two releases          | the same digests                                                             |
 * | SHA256SUMS            | `sha256sum --check` finds every other file as it was                         |
 * | docs/releasing.md     | its table names every file                                                   |
 * | the bill of materials | CycloneDX, with the time given, and every package of the npm package          |
 * |                       | and of the pages of the console, with its digest and licence                 |
 * | the licence report    | every component of the bill                                                  |
 */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registerDebianPackageCases } from './debian-package-cases.ts';
import { registerNpmPackageCases } from './npm-package-cases.ts';
import { maintainerFrom } from './src/debian-package.ts';
import { release } from './src/release.ts';
import { manifestOf, REPOSITORY, rootManifest } from './src/repository.ts';

const run = promisify(execFile);
const TIME = 1_700_000_000;
const MAINTAINER = maintainerFrom({ DEBEMAIL: 'release@keelson.example' });
const { version } = rootManifest();

interface Bill {
  readonly bomFormat: string;
  readonly metadata: { readonly timestamp: string; readonly component: { readonly purl: string } };
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly type: string;
    readonly hashes?: readonly object[];
  }[];
}

describe('a release', () => {
  let folder: TemporaryDirectory;
  const inRelease = (name: string): string => join(folder.path, 'first', name);
  const made: (readonly string[])[] = [];

  beforeAll(async () => {
    folder = await temporaryDirectory();
    for (const name of ['first', 'second']) {
      await mkdir(join(folder.path, name));
      made.push(await release(join(folder.path, name), TIME, MAINTAINER));
    }
  }, 600_000);
  afterAll(() => folder[Symbol.asyncDispose]());

  test('is made the same way twice', () => {
    expect(made[0]).toHaveLength(5);
    expect(made[1]).toEqual(made[0]);
  });

  test('has digests that fit its files', async () => {
    const checked = await run('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], {
      cwd: join(folder.path, 'first'),
    });
    expect(checked.stdout).toBe('');
    const named = (made[0] ?? []).map((line) => line.replace(/^\S+ +/, ''));
    expect([...named, 'SHA256SUMS'].toSorted()).toEqual((await readdir(inRelease('.'))).toSorted());
  });

  test('has the files that its page names', async () => {
    const page = await readFile(join(REPOSITORY, 'docs/releasing.md'), 'utf8');
    const named = [...page.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, name = '']) => name);
    const files = (await readdir(inRelease('.'))).map((name) =>
      name.replace(version, 'VERSION').replace(/_[a-z0-9]+\.deb$/, '_ARCH.deb'),
    );
    expect(files.toSorted()).toEqual(named.toSorted());
  });

  test('has a bill of everything that it contains', async () => {
    const bill = JSON.parse(
      await readFile(inRelease(`keelson-${version}.cdx.json`), 'utf8'),
    ) as Bill;
    expect(bill).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: {
        timestamp: new Date(TIME * 1000).toISOString(),
        component: { purl: `pkg:npm/keelson@${version}` },
      },
    });
    const { stdout } = await run('tar', ['-tzf', inRelease(`keelson-${version}.tgz`)]);
    const packaged = [
      ...stdout.matchAll(/node_modules\/((?:@[^/]+\/)?[^/@]+)\/package\.json$/gm),
    ].map(([, name = '']) => name);
    const shown = Object.keys(manifestOf('services/console').dependencies ?? {});
    const named = new Set(bill.components.map(({ name }) => name));
    expect(packaged.length).toBeGreaterThan(50);
    const missing = [...packaged, ...shown, 'react-dom', 'node'].filter((name) => !named.has(name));
    expect(missing).toEqual(['subset-font', 'vite']);
    const unsure = bill.components.filter(
      ({ hashes, type }) => type === 'library' && hashes === undefined,
    );
    expect(unsure).toEqual([]);
    const report = await readFile(inRelease(`keelson-${version}-licences.txt`), 'utf8');
    const unlisted = bill.components.filter(
      (each) => !report.includes(`  ${each.name} ${each.version}\n`),
    );
    expect(unlisted).toEqual([]);
  });

  const madeFile = (pattern: RegExp): string =>
    inRelease(
      (made[0] ?? []).map((line) => line.split(/ +/)[1] ?? '').find((name) => pattern.test(name)) ??
        '',
    );

  registerNpmPackageCases(() => madeFile(/^keelson-\d.*\.tgz$/));
  registerDebianPackageCases(() => madeFile(/\.deb$/));
});
