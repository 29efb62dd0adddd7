/** The tours of the README, pasted line by line into a shell. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort, readmeCommands, startKeelson, temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';

const run = promisify(execFile);

test('the five minutes issue and revoke a certificate, and lock a workspace once', async () => {
  await using folder = await temporaryDirectory();
  const keelson = await startKeelson({ dataFolder: join(folder.path, 'data') });
  try {
    const script = readmeCommands('Five minutes: a certificate and a workspace').replaceAll(
      'http://127.0.0.1:8200',
      keelson.http,
    );
    const options = {
      env: { ...process.env, TMPDIR: folder.path },
      cwd: folder.path,
      timeout: 240_000,
    };
    const { stdout } = await run('bash', ['-c', script], options);
    expect(stdout).toContain('leaf.pem: OK');
    expect(stdout).toContain('"state":"revoked"');
    expect(stdout).toMatch(/Serial Number: [0-9A-F]+/);
    expect(stdout).toMatch(/^200$/m);
    expect(stdout).toMatch(/already locked[^\n]*\n409$/m);
    expect(stdout).toContain('"key_info"');
  } finally {
    await keelson.stop();
  }
});

test('the evening with certificates ends with a revoked certificate that the client refuses', async () => {
  await using folder = await temporaryDirectory();
  const keelson = await startKeelson({ dataFolder: join(folder.path, 'data') });
  try {
    const evening = readmeCommands('An evening with certificates');
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
