/** The tour of the README and the tutorial on certificates, pasted into a shell. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  documentedCommands,
  findFreePort,
  startKeelson,
  temporaryDirectory,
} from '@keelson/testkit';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../../..');

test('the five minutes of the README work, and once more on the same server', async () => {
  await using folder = await temporaryDirectory();
  const keelson = await startKeelson({ dataFolder: join(folder.path, 'data') });
  try {
    const script = documentedCommands('README.md', 'Five minutes')
      .replace('http://127.0.0.1:8200', keelson.http)
      .replace('$PWD/node_modules', join(ROOT, 'node_modules'));
    const options = {
      env: { ...process.env, TMPDIR: folder.path, HOME: folder.path },
      cwd: folder.path,
      timeout: 240_000,
    };
    for (const paste of ['first', 'second']) {
      const { stdout, stderr } = await run('bash', ['-c', script], options);
      expect([paste, stdout]).toEqual([paste, expect.stringContaining('leaf.pem: OK')]);
      expect(stdout).toMatch(/Serial Number: [0-9A-F]+/);
      expect(stdout.match(/^201$/gm)).toHaveLength(2);
      expect(stdout).toContain('/web is locked.');
      expect(stdout).toMatch(/^Made the message /m);
      // The second lock is the one refusal.
      expect(stderr).toMatch(/^[^\n]*already locked[^\n]*\n$/);
    }
  } finally {
    await keelson.stop();
  }
});

test('the evening with certificates ends with a revoked certificate that the client refuses', async () => {
  await using folder = await temporaryDirectory();
  const keelson = await startKeelson({ dataFolder: join(folder.path, 'data') });
  try {
    const evening = documentedCommands('docs/tutorials/certificates.md', 'The session');
    const lines = evening.replaceAll('8444', String(await findFreePort()));
    const env = {
      ...process.env,
      K: keelson.http,
      ROOT: keelson.rootToken,
      TMPDIR: folder.path,
    };
    // Job control, as in a shell that somebody types into; nothing it starts outlives it.
    const script = `trap 'kill $(jobs -p) 2> /dev/null' EXIT\n${lines}`;
    const options = { env, cwd: folder.path, timeout: 240_000 };
    const { stdout } = await run('bash', ['-m', '-c', script], options);
    const said = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(said).toEqual([
      'Verification: OK',
      'leaf.pem: good',
      'verify error:num=23:certificate revoked',
      'leaf.pem: revoked',
    ]);
  } finally {
    await keelson.stop();
  }
});
