/** The evening with certificates of the README, pasted line by line into a shell. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort, readmeCommands, startKeelson, temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';

const run = promisify(execFile);

test('ends with a revoked certificate that the client refuses', async () => {
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
