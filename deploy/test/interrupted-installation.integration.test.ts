/** Ctrl-C while `make` installs packages. The program in the place of npm ends when the test lets it, as npm does late. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { REPOSITORY } from './images.ts';

const SLOW_TO_END = `#!${process.execPath}
process.on('SIGINT', () => {});
process.on('SIGUSR2', () => process.exit(130));
setInterval(() => {}, 60_000);
console.log('begun ' + process.pid);
`;

test.each(['node_modules/.package-lock.json', 'node_modules/.installed-for-development'])(
  'is answered at once, and ends %s when npm has ended',
  async (target) => {
    await using clone = await temporaryDirectory();
    await copyFile(join(REPOSITORY, 'Makefile'), join(clone.path, 'Makefile'));
    for (const name of ['package.json', 'package-lock.json'])
      await writeFile(join(clone.path, name), '{}');
    const npm = join(clone.path, 'npm');
    await writeFile(npm, SLOW_TO_END);
    await chmod(npm, 0o755);
    // A process group of its own, to all of which a terminal sends the signal.
    const make = spawn('make', [target], {
      cwd: clone.path,
      env: { ...process.env, PATH: `${clone.path}:${process.env['PATH']}` },
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = once(make, 'exit');
    const lines = createInterface({ input: make.stdout })[Symbol.asyncIterator]();
    const untilLine = async (begin: string): Promise<string> => {
      for (;;) {
        const { value, done } = await lines.next();
        if (done === true) throw new Error(`make ended without "${begin}"`);
        if (value.startsWith(begin)) return value;
      }
    };
    try {
      const begun = await untilLine('begun ');
      process.kill(-(make.pid ?? 0), 'SIGINT');
      expect(await untilLine('Stopping')).toBe(
        'Stopping when npm has ended what it began, which can take a minute.',
      );
      expect(make.exitCode).toBeNull();
      process.kill(Number(begun.replace('begun ', '')), 'SIGUSR2');
      const [code, signal] = await ended;
      expect(code === 0 && signal === null).toBe(false);
    } finally {
      if (make.exitCode === null && make.signalCode === null)
        process.kill(-(make.pid ?? 0), 'SIGKILL');
    }
  },
);
