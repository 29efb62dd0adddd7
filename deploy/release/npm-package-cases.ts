/**
 * The npm package of a release, installed into an empty folder and started there, as a user of the registry does it.
 *
 * | what                                    | expected                                                     |
 * | --------------------------------------- | ------------------------------------------------------------ |
 * | its version                             | that of all packages, of the processes and of the changelog  |
 * | `npm install` without a network         | the versions of package-lock.json, nothing for one platform  |
 * | `npx keelson --version`                 | the version                                                  |
 * | `npx keelson start`                     | ready, with the console, and issues a certificate            |
 * | files that start as threads or processes | are in the package                                          |
 */
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { startKeelson, type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { REPOSITORY, rootManifest } from './src/repository.ts';

const run = promisify(execFile);

interface LockedPackage {
  readonly version?: string;
  readonly os?: readonly string[];
}

const lockedPackages = (
  folderOfLock: string,
): readonly (LockedPackage & { readonly id: string })[] => {
  const { packages } = JSON.parse(
    readFileSync(join(folderOfLock, 'package-lock.json'), 'utf8'),
  ) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  return Object.entries(packages)
    .filter(([path]) => path.includes('node_modules/'))
    .map(([path, locked]) => ({
      ...locked,
      id: `${path.replace(/^.*node_modules\//, '')} ${locked.version}`,
    }));
};

/** @param tarball the package, once it was made */
export const registerNpmPackageCases = (tarball: () => string): void => {
  describe('its npm package', () => {
    let folder: TemporaryDirectory;
    /** Where the package is installed. */
    let installation: string;
    const packageFolder = (): string => join(installation, 'node_modules/keelson');

    beforeAll(async () => {
      folder = await temporaryDirectory();
      installation = folder.path;
      await run('npm', ['install', '--no-audit', '--no-fund', '--offline', tarball()], {
        cwd: installation,
      });
    }, 300_000);
    afterAll(() => folder[Symbol.asyncDispose]());

    test('installs the tested versions, on every platform the same', () => {
      const tested = new Set(lockedPackages(REPOSITORY).map(({ id }) => id));
      const installed = lockedPackages(installation).filter(({ id }) => !id.startsWith('keelson '));
      expect(installed.length).toBeGreaterThan(50);
      expect(installed.filter(({ id }) => !tested.has(id))).toEqual([]);
      expect(installed.filter(({ os }) => os !== undefined)).toEqual([]);
    });

    test('contains every file that it starts as a thread or a process', () => {
      const started = globSync('**/*.js', {
        cwd: packageFolder(),
        exclude: ['**/node_modules'],
      }).flatMap((file) =>
        [
          ...readFileSync(join(packageFolder(), file), 'utf8').matchAll(
            /new URL\(["'](\.[^"']+)["'], import\.meta\.url\)/g,
          ),
        ].map(([, path = '']) => join(dirname(file), path)),
      );
      expect(started.length).toBeGreaterThan(5);
      expect(
        started.filter((file) => !file.endsWith('.js') || !existsSync(join(packageFolder(), file))),
      ).toEqual([]);
    });

    test('starts a control plane that issues certificates', async () => {
      const { version } = rootManifest();
      const printed = await run('npx', ['--no-install', 'keelson', '--version'], {
        cwd: installation,
      });
      expect(printed.stdout).toBe(`${version}\n`);
      const keelson = await startKeelson({
        dataFolder: join(installation, 'data'),
        // Starts it as `npx` does, but without the intermediate shell, which does not forward the stop signal.
        command: ['sh', '-c', 'PATH="$PWD/node_modules/.bin:$PATH" exec keelson start'],
        folder: installation,
      });
      await using started = new AsyncDisposableStack();
      started.defer(async () => {
        expect(await keelson.stop('SIGTERM')).toBe(0);
      });
      const statusOf = async (path: string): Promise<number> =>
        (await fetch(keelson.http + path)).status;
      expect([await statusOf('/readyz'), await statusOf('/ui/'), await statusOf('/docs')]).toEqual([
        200, 200, 200,
      ]);
      const write = async (path: string, body: object): Promise<Response> =>
        fetch(`${keelson.http}/v1/${path}`, {
          method: 'POST',
          headers: { 'x-service-token': keelson.rootToken },
          body: JSON.stringify(body),
        });
      await write('sys/mounts/pki', { type: 'pki' });
      await write('pki/root/generate/internal', { common_name: 'Example Root', key_type: 'ec' });
      await write('pki/roles/web', { allow_any_name: true, key_type: 'ec' });
      // Shorter than the root, which was made earlier.
      const issued = await write('pki/issue/web', { common_name: 'www.example.com', ttl: '1h' });
      expect([issued.status, await issued.text()]).toEqual([
        200,
        expect.stringContaining('BEGIN CERTIFICATE'),
      ]);
    });
  });
};
